// What has happened: filtered, and followed.

import { get } from "./api.js";
import { h, replace, time } from "./dom.js";

const SHOWN_MAX = 2000;

export async function open(root) {
  const level = h("select", { id: "log-level" }, [["debug", "everything"], ["info", "info and above"], ["warn", "warnings and errors"], ["error", "errors"]].map(([value, text]) => h("option", { value }, text)));
  level.value = "info";
  const text = h("input", { type: "search", id: "log-text", placeholder: "words", maxlength: 200, autocomplete: "off" });
  const following = h("input", { type: "checkbox", id: "log-follow", checked: true });
  const body = h("tbody", {});
  const notice = h("p", { class: "notice" }, "Nothing yet.");
  replace(root, h("h1", {}, "Log"), h("section", { class: "panel" },
    h("div", { class: "row" }, h("label", { class: "field" }, h("span", {}, "Show"), level), h("label", { class: "field grow" }, h("span", {}, "Containing"), text),
      h("label", {}, following, " Follow")),
    notice, h("div", { class: "scroll" }, h("table", { class: "log" }, h("caption", { class: "hidden" }, "Events, newest first"), body))));
  let last = 0;
  let wanted = 0;
  let asking = false;
  const fetchMore = async (anew) => {
    if (asking && !anew) return;
    const mine = anew ? ++wanted : wanted;
    asking = true;
    try {
      if (anew) last = 0;
      const answer = await get("events", { since: last, level: level.value, q: text.value.trim() });
      if (mine !== wanted) return;
      if (anew) replace(body);
      last = answer.last;
      for (const event of answer.events) body.prepend(row(event));
      while (body.children.length > SHOWN_MAX) body.lastChild.remove();
      notice.hidden = body.children.length > 0;
    } catch {
      // The frame says that the connection is lost.
    } finally {
      asking = false;
    }
  };
  let pending = null;
  const soon = () => {
    clearTimeout(pending);
    pending = setTimeout(() => fetchMore(true), 200);
  };
  level.addEventListener("change", soon);
  text.addEventListener("input", soon);
  await fetchMore(true);
  return {
    update: ({ snapshot }) => {
      if (following.checked && (snapshot.event_last || 0) > last) fetchMore(false);
    },
    leave: () => clearTimeout(pending),
  };
}

function row(event) {
  const tone = { warn: "warn", error: "bad" }[event.level] || "soft";
  const fields = Object.entries(event.fields).map(([name, value]) => `${name}=${value}`).join(" ");
  return h("tr", {}, h("td", { class: "nowrap soft" }, time(event.unix_micros / 1e6)), h("td", { class: tone }, event.level), h("td", { class: "soft" }, event.kind),
    h("td", {}, event.text, fields ? h("span", { class: "soft" }, "  " + fields) : null));
}

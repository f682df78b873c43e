// One URL: where it is and why, its instances, its stored page beside its headers.

import { get, viewAddress } from "./api.js";
import { h, replace, panel, facts, table, bytes, took, count, hostLink, domainLink, outcomeClass } from "./dom.js";
import { failure } from "./app.js";

export async function open(root, { query }) {
  const asked = query.get("u") || "";
  const input = h("input", { type: "text", id: "url", inputmode: "url", value: asked, placeholder: "http://example.com/page", maxlength: 4096, autocomplete: "off", spellcheck: "false" });
  const form = h("form", { class: "row" }, h("label", { class: "field grow" }, h("span", {}, "URL"), input), h("button", { class: "main" }, "Look up"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (input.value.trim()) location.hash = "#/url?u=" + encodeURIComponent(input.value.trim());
  });
  const answer = h("div", {});
  replace(root, h("h1", {}, "URL"), h("section", { class: "panel" }, form), h("div", { class: "gap" }), answer);
  if (!asked) {
    replace(answer, h("p", { class: "notice" }, "Ask for a URL: where it is in the crawl, why, and what was stored of it."));
    if (!matchMedia("(max-width: 640px)").matches) input.focus();
    return;
  }
  replace(answer, h("p", { class: "notice" }, "Looking …"));
  try {
    const it = await get("url", { u: asked });
    const shown = h("div", {});
    replace(answer, h("div", { class: "grid" }, panel(null, h("h2", { class: "mono" }, it.why.url), story(it), instances(it, shown))), h("div", { class: "gap" }), shown);
    const stored = (it.why.instances || []).findLastIndex((instance) => instance.file);
    if (stored >= 0) await show(shown, it.why.url, stored);
  } catch (error) {
    replace(answer, failure(error));
  }
}

function story(it) {
  const why = it.why;
  return [h("p", {}, h("span", { class: "tag good", id: "answer" }, why.answer), " ", it.sentence), facts([
    ["Host", hostLink(it.host)], ["Domain", domainLink(it.domain)], ["Partition", why.partition === undefined ? null : String(why.partition)],
    ["robots.txt", why.answer === "imported" ? null : why.robots ? (why.robots.allowed ? "allows it" : "forbids it") + (why.robots.rule ? ` by line ${why.robots.line} (${why.robots.rule})` : "") : "not known yet"],
    ["As of", why.checkpoint === undefined ? null : `checkpoint ${why.checkpoint}, ${why.time}${why.running ? "; the crawl is running, and may be further by now" : ""}`],
  ])];
}

function instances(it, shown) {
  const list = (it.why.instances || []).map((instance, index) => ({ ...instance, index }));
  if (!list.length) return null;
  return [h("h3", {}, "Instances"), table([
    { name: "Outcome", cell: (row) => h("span", { class: outcomeClass(row.outcome) }, row.outcome) },
    { name: "When", cell: (row) => row.time },
    { name: "Took", num: true, cell: (row) => row.took_ms === undefined ? "–" : took(row.took_ms) },
    { name: "Depth", num: true, cell: (row) => count(row.depth) },
    { name: "Record", class: "mono url", cell: (row) => row.file ? `${row.file} @${row.offset}` : "not stored" },
    { name: "", cell: (row) => row.file ? h("button", { type: "button", onclick: () => show(shown, it.why.url, row.index) }, "Show") : null },
  ], list, { caption: "Instances" })];
}

async function show(root, url, n) {
  try {
    const page = await get("page", { u: url, n });
    // No allow-… of any kind: nothing in it runs, submits, navigates or knows where it is.
    const frame = h("iframe", { class: "page", sandbox: "", referrerpolicy: "no-referrer", title: "The stored page, without scripts and network", src: await viewAddress(url, n) });
    const fields = (list) => table([
      { name: "Name", class: "mono", cell: (field) => field.name },
      { name: "Value", class: "mono url", cell: (field) => field.value },
    ], list, { caption: "Fields" });
    const how = { html: "rendered without scripts and network", text: "as text", hex: "byte by byte" }[page.shown];
    replace(root, h("div", { class: "grid" }, h("section", { class: "panel" }, h("div", { class: "pair" },
      h("div", {}, h("h2", {}, "Stored page", h("span", { class: "soft" }, ` ${bytes(page.body_bytes)}, ${how}`)), frame),
      h("div", {}, h("h2", {}, "What the server said"), h("p", { class: "mono" }, page.status_line), fields(page.headers), h("h3", {}, "What the archive says"), fields(page.archive))))));
  } catch (error) {
    replace(root, failure(error));
  }
}


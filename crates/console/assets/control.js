// Everything that an operator can do.

import { get, post } from "./api.js";
import { h, replace, panel, table, count, time, facts, shown } from "./dom.js";
import { speedText } from "./overview.js";

export async function open(root, { known }) {
  if (known.snapshot && !known.snapshot.running) {
    return replace(root, h("h1", {}, "Control"), h("p", { class: "notice" }, "The crawl is not running, so there is nothing to steer. To go on with it: ", h("code", {}, `mattock crawl --out ${known.snapshot.directory}`)));
  }
  const pages = [run(), speed(), seeds(), await blocks(), await fields()];
  replace(root, h("h1", {}, "Control"), h("div", { class: "grid" }, pages.map((page) => page.element)));
  return { update: (known) => pages.forEach((page) => page.update?.(known.snapshot)) };
}

// A line that says what came of it.
function teller() {
  const element = h("p", { class: "said", role: "status" });
  const act = async (work, after) => {
    element.className = "said";
    element.textContent = "…";
    try {
      const answer = await work();
      element.className = "said good";
      element.textContent = shown(answer.done);
      await after?.();
    } catch (error) {
      element.className = "said bad";
      element.textContent = shown(error.message);
    }
  };
  return { element, act };
}

function submitting(form, work) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    work();
  });
  return form;
}

function run() {
  const said = teller();
  const reason = h("input", { type: "text", id: "pause-reason", maxlength: 500, placeholder: "for the log" });
  const pause = h("button", { type: "button", id: "pause", onclick: () => said.act(() => post("pause", reason.value.trim() ? { reason: reason.value.trim() } : {})) }, "Pause");
  const resume = h("button", { type: "button", id: "resume", class: "main", onclick: () => said.act(() => post("resume")) }, "Resume");
  const checkpoint = h("button", { type: "button", id: "checkpoint", onclick: () => said.act(() => post("checkpoint")) }, "Checkpoint now");
  const stop = h("button", { type: "button", id: "stop", class: "danger" }, "Stop …");
  let timer = null;
  const calm = () => {
    clearTimeout(timer);
    timer = null;
    stop.textContent = "Stop …";
    stop.classList.remove("sure");
  };
  stop.addEventListener("click", () => {
    if (timer) {
      calm();
      said.act(() => post("stop"));
    } else {
      stop.textContent = "Really stop the crawl";
      stop.classList.add("sure");
      timer = setTimeout(calm, 8000);
    }
  });
  stop.addEventListener("blur", calm);
  const state = h("div", {});
  const element = h("section", { class: "panel span6" }, h("h2", {}, "Run"), state, h("p", {}),
    h("div", { class: "row" }, h("label", { class: "field grow" }, h("span", {}, "Reason for a pause"), reason), pause, resume),
    h("div", { class: "row" }, checkpoint, stop), said.element);
  const update = (snapshot) => {
    const { paused, checkpoint: last } = snapshot;
    replace(state, facts([
      ["Now", snapshot.phase], ["Paused", paused.length ? paused.map((one) => `by ${one.by}${one.reason ? ": " + one.reason : ""}`).join("; ") : null],
      ["Checkpoint", h("span", { id: "checkpoint-number" }, `${last.number}${last.under_way ? ", and one is being made" : ""}`)],
    ]));
    resume.disabled = !paused.some((one) => one.by === "operator");
  };
  return { element, update };
}

function speed() {
  const said = teller();
  const pages = h("input", { type: "number", id: "speed-pages", min: 0.001, step: "any", placeholder: "no limit", inputmode: "decimal" });
  const mbit = h("input", { type: "number", id: "speed-mbit", min: 0.001, step: "any", placeholder: "no limit", inputmode: "decimal" });
  const number = (input) => (input.value === "" ? null : Number(input.value));
  const form = submitting(h("form", { class: "row" },
    h("label", { class: "field" }, h("span", {}, "Requests a second"), pages), h("label", { class: "field" }, h("span", {}, "Mbit a second"), mbit),
    h("button", { class: "main" }, "Limit"), h("button", { type: "button", onclick: () => said.act(() => post("speed")) }, "As configured")),
  () => said.act(() => post("speed", { pages_per_s: number(pages), mbit_per_s: number(mbit) })));
  const state = h("div", {});
  const schedule = h("div", {});
  const update = (snapshot) => {
    const now = snapshot.speed;
    replace(state, facts([["In force", h("span", { id: "speed-now" }, speedText(now.limit))], ["Said by", now.source], ["Until", now.until_unix_micros ? time(now.until_unix_micros / 1e6) : null]]));
    replace(schedule, snapshot.schedule.length ? [h("h3", {}, "Schedule, from the configuration"), table([
      { name: "", cell: (entry) => (entry.index === now.entry ? h("span", { class: "tag good" }, "now") : "") },
      { name: "From", cell: (entry) => entry.from }, { name: "To", cell: (entry) => entry.to },
      { name: "Days", cell: (entry) => (entry.days.length === 7 ? "every day" : entry.days.join(" ")) },
      { name: "Zone", cell: (entry) => entry.timezone },
      { name: "Speed", cell: (entry) => (entry.pause ? "pause" : speedText(entry)) },
    ], snapshot.schedule.map((entry, index) => ({ ...entry, index })), { caption: "Schedule" })]
      : h("p", { class: "soft" }, "No schedule. [[schedule]] in the configuration sets speeds by the time of day."));
  };
  return { element: h("section", { class: "panel span6" }, h("h2", {}, "Speed"), state, h("p", {}), form, said.element, schedule), update };
}

function seeds() {
  const said = teller();
  const text = h("textarea", { id: "seed-text", rows: 4, placeholder: "one URL in a line", spellcheck: "false" });
  const form = submitting(h("form", {}, h("label", { class: "field" }, h("span", {}, "URLs, one in a line"), text), h("p", {}), h("button", {}, "Add seeds")), () => {
    const urls = text.value.split(/\s+/).filter(Boolean);
    said.act(() => post("seeds", { urls }), () => { text.value = ""; });
  });
  return { element: h("section", { class: "panel span6" }, h("h2", {}, "Seeds"), form, said.element) };
}

async function blocks() {
  const said = teller();
  const kind = h("select", { id: "block-kind" }, ["host", "domain", "url", "address"].map((name) => h("option", { value: name }, name)));
  const what = h("input", { type: "text", id: "block-text", maxlength: 1900, placeholder: "www.example.com", autocomplete: "off", spellcheck: "false", required: true });
  const list = h("div", {});
  const load = async () => {
    const { rules } = await get("blocks");
    replace(list, rules.length ? table([
      { name: "Blocked by the operator", class: "mono url", cell: (rule) => rule },
      { name: "", num: true, cell: (rule) => h("button", { type: "button", class: "quiet", onclick: () => said.act(() => post("blocks/remove", { rule }), load) }, "Unblock") },
    ], rules, { caption: "Blocks" }) : h("p", { class: "soft" }, "The operator has blocked nothing."));
  };
  const form = submitting(h("form", { class: "row" }, h("label", { class: "field" }, h("span", {}, "Block"), kind), h("label", { class: "field grow" }, h("span", {}, "Name, range or pattern"), what), h("button", { id: "block", class: "danger" }, "Block")),
    () => said.act(() => post("blocks", { rule: `${kind.value} ${what.value.trim()}` }), load));
  await load();
  return { element: h("section", { class: "panel span6" }, h("h2", {}, "Blocks"), form, said.element, list) };
}

async function fields() {
  const said = teller();
  const { fields } = await get("fields");
  const editor = (field) => {
    const input = h("input", { type: "text", value: field.value, maxlength: 200, "aria-label": field.name, autocomplete: "off" });
    return submitting(h("form", { class: "row mid" }, input, h("button", {}, "Set")), () => said.act(() => post("fields", { name: field.name, value: input.value.trim() })));
  };
  const rows = fields.map((field) => [h("dt", { class: "mono" }, field.name), h("dd", {}, field.about), h("dd", {}, editor(field))]);
  return { element: panel("Settings that can be changed now", h("p", { class: "soft" }, `${count(fields.length)} settings; a change holds at once, and for later runs.`), said.element, h("dl", { class: "settings" }, rows)) };
}

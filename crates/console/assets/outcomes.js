// Every kind of outcome, with examples of those that are failures.

import { get } from "./api.js";
import { h, replace, panel, table, count, time, urlLink, outcomeClass } from "./dom.js";

export async function open(root) {
  const { items } = await get("outcomes");
  const all = items.sort((a, b) => b.count - a.count);
  const total = all.reduce((sum, item) => sum + item.count, 0);
  const id = (name) => "outcome-" + name;
  replace(root, h("h1", {}, "Outcomes"), h("div", { class: "grid" },
    panel("What became of URLs", all.length ? table([
      { name: "Outcome", cell: (item) => h("span", { class: outcomeClass(item.name) }, item.name) },
      { name: "Means", cell: (item) => item.about },
      { name: "URLs", num: true, cell: (item) => count(item.count) },
      { name: "Share", num: true, cell: (item) => ((100 * item.count) / Math.max(1, total)).toFixed(2) + " %" },
      { name: "", cell: (item) => item.examples.length ? h("button", { type: "button", class: "quiet", onclick: () => reveal(id(item.name)) }, "Examples") : null },
    ], all, { caption: "Outcomes" }) : h("p", { class: "notice" }, "Nothing yet.")),
    all.filter((item) => item.examples.length).map((item, index) => h("details", { class: "panel", id: id(item.name), open: index === 0 },
      h("summary", {}, h("span", { class: outcomeClass(item.name) }, item.name), ` ${item.about} `, h("span", { class: "soft" }, `The latest ${item.examples.length} of ${count(item.count)}.`)),
      table([
        { name: "URL", class: "url", cell: (example) => urlLink(example.url) },
        { name: "When", cell: (example) => h("span", { class: "nowrap" }, time(example.unix_micros / 1e6)) },
        { name: "Detail", cell: (example) => example.detail },
      ], item.examples, { caption: item.name })))));
}

function reveal(id) {
  const details = document.getElementById(id);
  details.open = true;
  details.scrollIntoView({ block: "center" });
  details.querySelector("summary").focus();
}

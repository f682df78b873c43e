// Hosts and domains: search, sort, one page each.

import { get } from "./api.js";
import { h, replace, table, count, bytes, ago, span, hostLink, domainLink } from "./dom.js";
import { failure } from "./app.js";

const LIMIT = 50;
const SORTS = { hosts: ["pages", "errors", "queued", "next", "bytes", "last", "name"], domains: ["pages", "errors", "bytes", "last", "budget", "in-degree", "name"] };

export async function open(root, { query }) {
  const asked = { kind: query.get("kind") === "domains" ? "domains" : "hosts", q: query.get("q") || "", sort: query.get("sort") || "pages", offset: Number(query.get("offset")) || 0 };
  if (!SORTS[asked.kind].includes(asked.sort)) asked.sort = "pages";
  const go = (change) => {
    const next = { ...asked, offset: 0, ...change };
    location.hash = "#/hosts?" + new URLSearchParams(Object.entries(next).filter(([, value]) => value)).toString();
  };
  const text = h("input", { type: "search", value: asked.q, id: "host-filter", placeholder: "part of the name", maxlength: 200, autocomplete: "off" });
  const kind = h("select", {}, h("option", { value: "hosts" }, "Hosts"), h("option", { value: "domains" }, "Domains"));
  kind.value = asked.kind;
  kind.addEventListener("change", () => go({ kind: kind.value, sort: "pages" }));
  const sort = h("select", {}, SORTS[asked.kind].map((name) => h("option", { value: name }, name)));
  sort.value = asked.sort;
  sort.addEventListener("change", () => go({ sort: sort.value }));
  const form = h("form", { class: "row" },
    h("label", { class: "field" }, h("span", {}, "Show"), kind),
    h("label", { class: "field grow" }, h("span", {}, "Name contains"), text),
    h("label", { class: "field" }, h("span", {}, "Sorted by"), sort), h("button", {}, "Search"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go({ q: text.value.trim() });
  });
  const list = h("div", {}, h("p", { class: "notice" }, "Counting …"));
  replace(root, h("h1", {}, "Hosts and domains"), h("section", { class: "panel" }, form, list));
  try {
    const answer = await get(asked.kind, { q: asked.q, sort: asked.sort, offset: asked.offset, limit: LIMIT });
    replace(list, answer.items.length ? listing(asked, answer, go) : h("p", { class: "notice" }, asked.q ? "None has such a name." : "None has been visited yet."), footing(asked, answer, go));
  } catch (error) {
    replace(list, failure(error));
  }
}

function listing(asked, answer, go) {
  const link = asked.kind === "hosts" ? hostLink : domainLink;
  const columns = [
    { name: asked.kind === "hosts" ? "Host" : "Domain", sort: "name", class: "url", cell: (row) => link(row.name) },
    { name: "Pages", sort: "pages", num: true, cell: (row) => count(row.pages) },
    { name: "Errors", sort: "errors", num: true, cell: (row) => h("span", { class: row.errors > row.pages ? "bad" : null }, count(row.errors)) },
    { name: "Other", num: true, cell: (row) => count(row.other) },
  ];
  if (asked.kind === "hosts") {
    columns.push({ name: "Waiting", sort: "queued", num: true, cell: (row) => count(row.queued) },
      { name: "Next visit", sort: "next", num: true, cell: (row) => row.next_s === null || row.next_s === undefined ? "–" : row.next_s <= 0 ? "now" : "in " + span(row.next_s) });
  } else {
    columns.push({ name: "Budget", sort: "budget", num: true, cell: (row) => count(row.budget) },
      { name: "In-degree", sort: "in-degree", num: true, cell: (row) => count(row.in_degree) });
  }
  columns.push({ name: "Stored", sort: "bytes", num: true, cell: (row) => bytes(row.bytes) },
    { name: "Last visit", sort: "last", num: true, cell: (row) => ago(row.last_unix) });
  return table(columns, answer.items, { caption: "Hosts and domains", sorted: asked.sort, sort: (name) => go({ sort: name }) });
}

function footing(asked, answer, go) {
  const last = Math.min(answer.total, asked.offset + answer.items.length);
  const notes = [`${count(answer.total)} in all; as of checkpoint ${answer.checkpoint}.`];
  if (answer.uncounted) notes.push(`${count(answer.uncounted)} URLs of further hosts are not listed.`);
  return h("div", { class: "row mid" },
    h("span", { class: "soft" }, answer.total ? `${count(asked.offset + 1)} to ${count(last)}. ` : "", notes.join(" ")),
    asked.offset > 0 ? h("button", { type: "button", onclick: () => go({ offset: Math.max(0, asked.offset - LIMIT) }) }, "Previous") : null,
    last < answer.total ? h("button", { type: "button", onclick: () => go({ offset: asked.offset + LIMIT }) }, "Next") : null);
}

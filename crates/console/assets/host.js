// One host or one domain.

import { get, post } from "./api.js";
import { h, replace, panel, facts, table, count, bytes, ago, time, span, took, urlLink, hostLink, domainLink, outcomeClass, shown } from "./dom.js";
import { bars } from "./chart.js";

export async function open(root, { name, subject, known }) {
  replace(root, h("p", { class: "notice" }, "Reading the ledger …"));
  const it = await get((name === "host" ? "hosts/" : "domains/") + encodeURIComponent(subject));
  const title = h("h1", { class: "mono" }, it.name);
  replace(root, h("p", { class: "crumbs" }, name === "host" ? ["Host of ", domainLink(it.domain)] : "Domain"), title,
    h("div", { class: "grid" },
      span6("Counts", facts([
        ["Pages", count(it.pages)], ["Errors", count(it.errors)], ["Other answers", count(it.other)], ["Stored", bytes(it.bytes)],
        ["Last visit", it.last_unix ? `${time(it.last_unix)} (${ago(it.last_unix)})` : "never"],
        ["Waiting", it.queued === null || it.queued === undefined ? null : count(it.queued)],
        ["Next visit", it.next_s === null || it.next_s === undefined ? null : it.next_s <= 0 ? "now" : "in " + span(it.next_s)],
        ["Addresses", it.addresses?.length ? it.addresses.join(", ") : null],
        ["Budget", it.budget === null || it.budget === undefined ? null : `${count(it.budget)} pages a turn`],
        ["In-degree", it.in_degree === null || it.in_degree === undefined ? null : `${count(it.in_degree)} domains link to it`],
        ["As of", `checkpoint ${it.checkpoint}`],
      ]), known.snapshot?.running ? block(name, it.name) : null),
      span6("Outcomes over time", it.over_time.length ? [bars(it.over_time, "Pages and errors over time"),
        h("p", { class: "soft" }, `${time(it.over_time[0].unix)} to ${time(it.last_unix)}; errors are red`)] : h("p", { class: "notice" }, "Nothing yet."), outcomes(it.outcomes)),
      it.robots ? panel("robots.txt as obeyed", robots(it.robots)) : null,
      name === "domain" ? panel("Its hosts", table([
        { name: "Host", class: "url", cell: (row) => hostLink(row[0]) },
        { name: "Pages", num: true, cell: (row) => count(row[1].pages) },
        { name: "Errors", num: true, cell: (row) => count(row[1].errors) },
      ], Object.entries(it.hosts), { caption: "Hosts" })) : null,
      panel("Its last URLs", it.urls.length ? table([
        { name: "URL", class: "url", cell: (row) => urlLink(row.url) },
        { name: "Outcome", cell: (row) => h("span", { class: outcomeClass(row.outcome) }, row.outcome) },
        { name: "When", cell: (row) => h("span", { class: "nowrap" }, time(row.unix)) },
        { name: "Took", num: true, cell: (row) => took(row.took_ms) },
      ], it.urls, { caption: "URLs" }) : h("p", { class: "notice" }, "None is settled yet."))));
}

function span6(title, ...children) {
  return h("section", { class: "panel span6" }, h("h2", {}, title), children);
}

function outcomes(all) {
  const rows = Object.entries(all).sort((a, b) => b[1] - a[1]);
  return h("p", {}, rows.map(([outcome, number]) => [h("span", { class: outcomeClass(outcome) }, outcome), ` ${count(number)}  `]));
}

function robots(rules) {
  const closed = rules.closed ? h("p", { class: "bad" }, `Nothing may be fetched: robots.txt could not be had (${rules.closed}).`) : null;
  return [closed, facts([
    ["Valid until", time(rules.valid_until)],
    ["Crawl delay", rules.crawl_delay_s === null ? null : span(rules.crawl_delay_s)],
    ["Rules", String(rules.rules.length)],
    ["Cut", rules.truncated ? "the file was too long; rules may be missing" : null],
  ]), rules.rules.length ? table([
    { name: "Line", class: "tight", cell: (rule) => String(rule.line) },
    { name: "Rule, the first that matches decides", class: "mono", cell: (rule) => rule.text },
  ], rules.rules, { caption: "Rules" }) : null];
}

function block(kind, name) {
  const said = h("p", { class: "said", role: "status" });
  const rule = kind === "host" ? "host " + name : "domain " + name;
  const act = async (path, word) => {
    try {
      await post(path, { rule });
      said.className = "said good";
      said.textContent = shown(`${word}: ${rule}`);
    } catch (error) {
      said.className = "said bad";
      said.textContent = shown(error.message);
    }
  };
  return [h("div", { class: "row mid" },
    h("button", { type: "button", id: "block", class: "danger", onclick: () => act("blocks", "Blocked") }, "Block this " + kind),
    h("button", { type: "button", onclick: () => act("blocks/remove", "No longer blocked") }, "Unblock")), said];
}

// The frame: which page is shown, what all pages know, the theme and the keys.

import { get, follow, Problem } from "./api.js";
import { h, replace, byId, announce, shown } from "./dom.js";
import * as overview from "./overview.js";
import * as hosts from "./hosts.js";
import * as host from "./host.js";
import * as url from "./url.js";
import * as outcomes from "./outcomes.js";
import * as log from "./log.js";
import * as control from "./control.js";

const TABS = [["overview", "Overview"], ["hosts", "Hosts & domains"], ["url", "URL"], ["outcomes", "Outcomes"], ["log", "Log"], ["control", "Control"]];
const PAGES = { overview, hosts, host, domain: host, url, outcomes, log, control };
const PARENTS = { host: "hosts", domain: "hosts" };
const HISTORY_MAX = 600;

// What is known of the crawl, for all pages.
const known = { snapshot: null, history: [] };
let page = null;
let turn = 0;

function route() {
  const text = location.hash.replace(/^#\/?/, "");
  const [path, query] = text.split("?");
  const [name, ...rest] = path.split("/");
  let subject = rest.join("/");
  try {
    subject = decodeURIComponent(subject);
  } catch {
    // A hand-written address; taken as it is.
  }
  return { name: PAGES[name] ? name : "overview", subject, query: new URLSearchParams(query || "") };
}

function tabs(name) {
  const current = PARENTS[name] || name;
  replace(byId("tabs"), TABS.map(([key, label]) =>
    h("li", {}, h("a", { href: "#/" + key, "aria-current": key === current ? "page" : null }, label))));
  // Not by scrollIntoView, which would also move where the Tab key begins.
  const tab = byId("tabs").querySelector("[aria-current]");
  const bar = byId("tabs").parentElement;
  if (tab) bar.scrollLeft = tab.offsetLeft - (bar.clientWidth - tab.offsetWidth) / 2;
}

async function show() {
  const { name, subject, query } = route();
  const number = ++turn;
  page?.leave?.();
  page = null;
  tabs(name);
  const main = byId("main");
  const label = (TABS.find(([key]) => key === (PARENTS[name] || name)) || TABS[0])[1];
  document.title = shown(subject ? `${subject.slice(0, 80)} · Mattock` : `${label} · Mattock`);
  const root = h("div", {});
  replace(main, root);
  try {
    const made = await PAGES[name].open(root, { name, subject, query, known });
    if (number !== turn) return made?.leave?.();
    page = made;
    if (known.snapshot) page?.update?.(known);
  } catch (error) {
    if (number === turn) replace(root, failure(error));
  }
}

export function failure(error) {
  const text = error instanceof Problem ? error.message : "This page broke down: " + error.message;
  return h("p", { class: "notice error", role: "alert" }, text);
}

function state(snapshot, lost) {
  const element = byId("state");
  const [word, text] = lost ? ["lost", "No connection"]
    : snapshot.running ? [snapshot.phase, snapshot.phase[0].toUpperCase() + snapshot.phase.slice(1)] : ["stopped", "Not running"];
  if (element.textContent !== shown(text)) element.textContent = shown(text);
  element.dataset.state = word;
}

function alerts(snapshot) {
  const list = [...(snapshot.alerts || [])];
  if (snapshot.trouble) list.unshift({ kind: "trouble", text: snapshot.trouble });
  const key = JSON.stringify(list.map((alert) => [alert.kind, alert.text]));
  const root = byId("alerts");
  if (root.dataset.key === key) return;
  root.dataset.key = key;
  replace(root, list.map((alert) =>
    h("p", { class: alert.kind === "trouble" ? "alert severe" : "alert" }, h("strong", {}, alert.kind.replaceAll("-", " ")), h("span", {}, alert.text))));
}

function updated(update) {
  known.snapshot = update.snapshot;
  known.history.push(update.sample);
  if (known.history.length > HISTORY_MAX) known.history.shift();
  told();
}

function told() {
  state(known.snapshot, false);
  alerts(known.snapshot);
  const name = byId("crawl-name");
  if (name.textContent !== shown(known.snapshot.name)) {
    name.textContent = shown(known.snapshot.name);
    name.title = shown(known.snapshot.directory);
  }
  page?.update?.(known);
}

const THEMES = ["system", "light", "dark"];

function theme(name) {
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  byId("theme").textContent = "Theme: " + name;
  localStorage.setItem("mattock-theme", name);
}

function listen() {
  window.addEventListener("hashchange", () => {
    if (location.hash === "#main") return byId("main").focus();
    show();
    byId("main").focus({ preventScroll: true });
    scrollTo(0, 0);
  });
  window.addEventListener("mattock-token", show);
  byId("theme").addEventListener("click", () => {
    const now = localStorage.getItem("mattock-theme") || "system";
    theme(THEMES[(THEMES.indexOf(now) + 1) % THEMES.length]);
  });
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      byId("find-text").focus();
    } else if (event.key === "Escape" && typing) {
      event.target.blur();
    }
  });
  byId("find").addEventListener("submit", (event) => {
    event.preventDefault();
    const text = byId("find-text").value.trim();
    if (!text) return;
    location.hash = /^https?:\/\/[^/]+\/./i.test(text) || /^https?:\/\/[^/]+\/$/i.test(text)
      ? "#/url?u=" + encodeURIComponent(text) : "#/hosts?q=" + encodeURIComponent(text.replace(/^https?:\/\//i, ""));
  });
}

async function begin() {
  const saved = localStorage.getItem("mattock-theme");
  theme(THEMES.includes(saved) ? saved : "system");
  listen();
  show();
  try {
    const [snapshot, history] = await Promise.all([get("snapshot"), get("history")]);
    known.snapshot = snapshot;
    known.history = history.samples;
    told();
  } catch (error) {
    announce(error.message);
  }
  follow(updated, () => state(null, true));
}

begin();

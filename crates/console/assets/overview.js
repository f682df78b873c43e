// The overview: how fast, what waits where, what limits, what is left of memory and disk.

import { get } from "./api.js";
import { h, replace, count, rate, short, bytes, span, ago, time, facts, link, outcomeClass } from "./dom.js";
import { area } from "./chart.js";
import { flow } from "./flow.js";

// The chart grows with what there is to show, up to ten minutes.
const SLOTS = [60, 120, 300, 600];
const STALLS_EVERY_MS = 10000;

export async function open(root) {
  const places = {};
  const place = (name, size, title) => {
    places[name] = h("div", {});
    return h("section", { class: "panel " + size, id: "panel-" + name }, h("h2", {}, title), places[name]);
  };
  replace(root, h("h1", { class: "hidden" }, "Overview"), h("div", { class: "grid" },
    place("speed", "span8", "Speed"), place("totals", "span4", "So far"),
    place("flow", "", "The way of a URL"),
    place("outcomes", "span6 tall", "Outcomes"), place("memory", "span3", "Memory"), place("disk", "span3", "Disk"),
    place("checkpoint", "span3", "Last checkpoint"), place("limit", "span3", "Speed limit")));
  let stalls = null;
  let seen = null;
  let counted = null;
  const judge = async () => {
    try {
      const answer = await get("stalls");
      // In its first seconds a crawl has not said yet what it is doing.
      const queued = seen?.snapshot.now?.queued || 0;
      stalls = answer.limit === "nothing-left" && queued > 0 ? null : answer;
      if (seen) draw(seen);
    } catch {
      // It is asked again.
    }
  };
  // What a crawl that does not run has come to stands in its ledgers.
  const total = async () => {
    counted = {};
    try {
      const { items } = await get("outcomes");
      counted = Object.fromEntries(items.map((item) => [item.name, item.count]));
      if (seen) draw(seen);
    } catch {
      // The panel stays empty.
    }
  };
  const draw = (known) => {
    seen = known;
    for (const name of ["memory", "limit"]) places[name].parentElement.hidden = !known.snapshot.running;
    if (!known.snapshot.running && !counted) total();
    speed(places.speed, known);
    totals(places.totals, known.snapshot);
    replace(places.flow, limits(stalls), flow(places.flow, known.snapshot, stalls));
    outcomes(places.outcomes, known.snapshot.outcomes || counted);
    memory(places.memory, known.snapshot);
    disk(places.disk, known.snapshot);
    checkpoint(places.checkpoint, known.snapshot);
    inForce(places.limit, known.snapshot);
  };
  setTimeout(judge, 0);
  const timer = setInterval(judge, STALLS_EVERY_MS);
  return { update: draw, leave: () => clearInterval(timer) };
}

function figure(value, unit, small, id) {
  return h("div", { class: small ? "figure small" : "figure" }, h("span", { id }, value), h("small", {}, unit));
}

function speed(root, { snapshot, history }) {
  if (!snapshot.running) return replace(root, h("p", { class: "notice" }, "The crawl is not running. This is how it was at its last checkpoint."));
  const rates = snapshot.rates;
  const slots = SLOTS.find((slots) => history.length <= slots) || SLOTS.at(-1);
  const values = history.slice(-slots).map((sample) => sample.pages_per_s);
  const mbit = (perSecond) => rate((perSecond * 8) / 1e6);
  replace(root, h("div", { class: "figures" },
    figure(rate(rates.pages_per_s_10), "pages/s", false, "pages-per-s"), figure(mbit(rates.bytes_per_s_10), "Mbit/s"),
    figure(rate(rates.requests_per_s_10), "requests/s", true), figure(rate(rates.errors_per_s_60), "given up/s", true),
    figure(rate(rates.pages_per_s_60), "pages/s over a minute", true)),
    area(values, slots, `Pages a second over the last ${span(slots)}`),
    h("p", { class: "axis" }, h("span", {}, span(slots) + " ago"), h("span", {}, `pages a second, at most ${rate(Math.max(0, ...values))}`), h("span", {}, "now")));
}

function totals(root, snapshot) {
  const now = snapshot.now || {};
  replace(root, figure(count(now.pages), "pages", false, "pages"), h("p", {}), facts([
    ["URLs seen", count(now.seen)], ["URLs waiting", count(now.queued)], ["Failed", now.errors === undefined ? null : count(now.errors)],
    ["Received", now.bytes === undefined ? null : bytes(now.bytes)],
    ["Connections", snapshot.running ? `${count(now.in_flight)} of ${count(snapshot.connections)}` : null],
    ["Hosts at work", snapshot.running ? count(now.hosts) : null],
    ["Partitions", count(snapshot.partitions)], ["Running for", snapshot.running ? span(snapshot.uptime_s) : null],
    ["Page limit", snapshot.max_pages ? count(snapshot.max_pages) : null],
  ]));
}

function limits(stalls) {
  if (!stalls) return h("p", { class: "limit soft" }, "What limits the crawl is being looked up …");
  const calm = ["none", "nothing-left", "stopped", "max-pages"].includes(stalls.limit);
  return h("div", { class: "limit" }, h("span", { class: calm ? "tag" : "tag warn", id: "limit" }, stalls.limit.replaceAll("-", " ")),
    h("div", {}, stalls.sentence, stalls.advice.length ? h("span", { class: "soft" }, (stalls.running ? " Would help: " : " Next, ") + stalls.advice.join("; ") + ".") : null));
}

function outcomes(root, counts) {
  const all = Object.entries(counts || {}).sort((a, b) => b[1] - a[1]);
  if (!all.length) return replace(root, h("p", { class: "notice" }, "Nothing yet."));
  const total = all.reduce((sum, [, number]) => sum + number, 0);
  const rows = all.slice(0, 8).map(([name, number]) => {
    const filled = h("span", {});
    filled.style.width = (100 * number) / all[0][1] + "%";
    const bad = !(Number(name) > 0 && Number(name) < 400);
    return [h("span", {}, h("span", { class: outcomeClass(name) }, name)), h("div", { class: bad ? "meter bad" : "meter" }, filled), h("span", { class: "num" }, short(number)), h("span", { class: "num soft" }, ((100 * number) / total).toFixed(1) + " %")];
  });
  replace(root, h("div", { class: "bars" }, rows), h("p", {}), h("p", {}, link("outcomes", `All ${all.length} kinds, with examples`)));
}

function meter(share, warnAt, badAt) {
  const filled = h("span", {});
  filled.style.width = Math.min(100, Math.max(0, share * 100)) + "%";
  return h("div", { class: "meter" + (share >= badAt ? " bad" : share >= warnAt ? " warn" : "") }, filled);
}

function memory(root, { memory }) {
  if (!memory) return replace(root, h("p", { class: "notice" }, "–"));
  const used = memory.resident_bytes || 0;
  replace(root, figure(bytes(used), "in use", true), meter(used / memory.limit_bytes, 0.8, 1), facts([
    ["Alert above", bytes(memory.limit_bytes)], ["For the frontier", bytes(memory.frontier_bytes)],
  ]));
}

function disk(root, { disk, running }) {
  if (!disk) return replace(root, h("p", { class: "notice" }, "–"));
  const left = disk.seconds_left;
  const scarce = left !== null && left !== undefined ? (left < 86400 ? " warn" : "") : "";
  replace(root, figure(bytes(disk.free_bytes), "free", true), h("p", { class: scarce }, left ? `Full in ${span(left)} at this rate` : running ? "No end in sight" : ""), facts([
    ["Used", disk.used_per_s ? bytes(disk.used_per_s) + "/s" : null], ["Pauses below", disk.reserve_bytes ? bytes(disk.reserve_bytes) : null],
    ["Alert below", disk.alert_bytes ? bytes(disk.alert_bytes) : null],
  ]));
}

function checkpoint(root, { checkpoint, running }) {
  if (!checkpoint?.number) return replace(root, h("p", { class: "notice" }, running ? "None yet: a crash would begin again." : "None."));
  const unix = checkpoint.unix_micros / 1e6;
  replace(root, figure(ago(unix), "", true), facts([
    ["Number", count(checkpoint.number)], ["Made", time(unix)], ["Took", checkpoint.seconds ? span(checkpoint.seconds) : null],
    ["Next", running ? (checkpoint.under_way ? "being made" : "within " + span(checkpoint.every_s)) : null],
  ]));
}

function inForce(root, snapshot) {
  if (!snapshot.running) return replace(root, h("p", { class: "notice" }, "–"));
  const { speed, paused } = snapshot;
  const words = { config: "the configuration", schedule: "the schedule", operator: "the operator" };
  replace(root, figure(speedText(speed.limit), "", true), facts([
    ["Said by", words[speed.source]], ["Until", speed.until_unix_micros ? time(speed.until_unix_micros / 1e6) : null],
    ["Paused", paused.length ? paused.map((pause) => `by ${pause.by} since ${time(pause.since_unix_micros / 1e6)}${pause.reason ? ": " + pause.reason : ""}`).join("; ") : "no"],
  ]), h("p", {}), h("p", {}, link("control", "Change it")));
}

export function speedText(limit) {
  const parts = [];
  if (limit.pages_per_s) parts.push(rate(limit.pages_per_s) + " requests/s");
  if (limit.bits_per_s) parts.push(rate(limit.bits_per_s / 1e6) + " Mbit/s");
  return parts.length ? parts.join(", ") : "no limit";
}

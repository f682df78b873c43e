// The way of a URL as a diagram: what waits before each stage, and which of them limits the crawl.

import { s, short, rate } from "./dom.js";

const STAGES = [
  { key: "seen", label: "Seen", note: "first time?" },
  { key: "budget", label: "Budget", note: "turn of the domain" },
  { key: "ready", label: "Ready", note: "room on the bench" },
  { key: "bench", label: "Bench", note: "politeness" },
  { key: "robots", label: "Robots", note: "rules of the host" },
  { key: "names", label: "Names", note: "DNS look-ups" },
  { key: "fetch", label: "Fetch", note: "connections" },
  { key: "read", label: "Read", note: "links, text" },
  { key: "archive", label: "Archive", note: "pages stored" },
];

// Which stage a limit is about.
const LIMITED = {
  names: "names", connections: "fetch", budget: "budget", retries: "bench", "few-hosts": "bench", politeness: "bench",
  trouble: "archive", cpu: "read", "nothing-left": "seen",
};

// What waits before each stage: as the running crawl says, or as its last checkpoint does.
function waiting(snapshot, stalls) {
  const now = snapshot.now || {};
  const live = now.waiting;
  const saved = (stalls && stalls.waiting) || {};
  const sum = (map, ...names) => names.reduce((total, name) => total + (map[name] || 0), 0);
  return {
    seen: live ? sum(live, "exchange", "arriving", "new") : sum(saved, "arriving"),
    budget: live ? live.budget : sum(saved, "budget", "over-budget"),
    ready: live ? live.ready.reduce((total, number) => total + number, 0) : sum(saved, "room"),
    bench: live ? sum(live, "bench", "overflow", "deferred") : sum(saved, "host", "behind-host", "another-try"),
    robots: live ? live.rules + (now.robots || 0) : 0,
    names: now.locating || 0,
    fetch: Math.max(0, (now.in_flight || 0) - (now.locating || 0) - (now.robots || 0)),
    read: live ? sum(live, "returned", "unread") : 0,
    archive: now.pages || 0,
  };
}

const BOX = { width: 112, height: 66 };

export function flow(root, snapshot, stalls) {
  const narrow = root.clientWidth > 0 && root.clientWidth < 700;
  const counts = waiting(snapshot, stalls);
  const limit = stalls && snapshot.running ? LIMITED[stalls.limit] : null;
  const moving = snapshot.running && snapshot.phase === "running" && (snapshot.rates?.requests_per_s_10 || 0) > 0;
  const columns = narrow ? 2 : STAGES.length;
  const gap = narrow ? 54 : 30;
  const rowGap = 46;
  const rows = Math.ceil(STAGES.length / columns);
  const top = narrow ? 22 : 50;
  const width = columns * BOX.width + (columns - 1) * gap + 8;
  const height = top + rows * BOX.height + (rows - 1) * rowGap + (narrow ? 10 : 16);
  const spot = (index) => {
    const row = Math.floor(index / columns);
    // In two columns the way goes to and fro, so that every step is a short one.
    const column = narrow && row % 2 === 1 ? columns - 1 - (index % columns) : index % columns;
    return { x: 4 + column * (BOX.width + gap), y: top + row * (BOX.height + rowGap), row };
  };
  const title = "The way of a URL: " + STAGES.map((stage) => `${stage.label} ${counts[stage.key]}`).join(", ") + (limit ? `; limited at ${limit}` : "");
  const chart = s("svg", { class: "flowchart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title });
  const pipe = (d, head) => {
    chart.append(s("path", { class: moving ? "pipe moving" : "pipe", d }), s("path", { class: "head", d: head }));
  };
  const arrow = (x, y, dx, dy) => `M${x},${y} l${-7 * dx - 4 * dy},${-7 * dy - 4 * dx} l${8 * dy},${8 * dx} z`;
  STAGES.slice(1).forEach((_, index) => {
    const from = spot(index);
    const to = spot(index + 1);
    if (from.row === to.row) {
      const right = to.x > from.x ? 1 : -1;
      const x1 = right > 0 ? from.x + BOX.width : from.x;
      const x2 = right > 0 ? to.x : to.x + BOX.width;
      const y = from.y + BOX.height / 2;
      pipe(`M${x1},${y} H${x2 - 7 * right}`, arrow(x2, y, right, 0));
    } else {
      const x = from.x + BOX.width / 2;
      pipe(`M${x},${from.y + BOX.height} V${to.y - 7}`, arrow(x, to.y, 0, 1));
    }
  });
  if (!narrow) {
    // Links go back to the beginning.
    const read = spot(7);
    const seen = spot(0);
    const x1 = read.x + BOX.width / 2;
    const x2 = seen.x + BOX.width / 2;
    pipe(`M${x1},${read.y} V26 Q${x1},16 ${x1 - 10},16 H${x2 + 10} Q${x2},16 ${x2},26 V${seen.y - 7}`, arrow(x2, seen.y, 0, 1));
    chart.append(s("text", { class: "note", x: (x1 + x2) / 2, y: 11, "text-anchor": "middle" }, "links, through the exchange between partitions"));
  }
  STAGES.forEach((stage, index) => {
    const { x, y } = spot(index);
    const limits = stage.key === limit;
    const middle = x + BOX.width / 2;
    const speed = stage.key === "fetch" && snapshot.rates ? `${rate(snapshot.rates.requests_per_s_10)}/s` : stage.note;
    chart.append(s("g", { class: limits ? "limits" : null },
      s("rect", { class: "box", x, y, width: BOX.width, height: BOX.height, rx: 7 }),
      s("text", { class: "label", x: middle, y: y + 17, "text-anchor": "middle" }, stage.label),
      s("text", { class: "count", x: middle, y: y + 37, "text-anchor": "middle" }, short(counts[stage.key])),
      s("text", { class: "note", x: middle, y: y + 55, "text-anchor": "middle" }, limits ? "limits the crawl" : speed)));
  });
  return chart;
}

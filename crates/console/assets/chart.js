// Small charts, drawn as SVG.

import { s } from "./dom.js";

const WIDTH = 600;
const HEIGHT = 100;

// An area over time: values from the oldest to the newest, with room for `slots` of them.
export function area(values, slots, label, low) {
  const highest = Math.max(1e-9, ...values);
  const x = (index) => (WIDTH * (slots - values.length + index)) / Math.max(1, slots - 1);
  const y = (value) => HEIGHT - (HEIGHT - 4) * (value / highest);
  const points = values.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`);
  const chart = s("svg", { class: low ? "chart low" : "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": label });
  chart.append(s("line", { class: "base", x1: 0, x2: WIDTH, y1: HEIGHT, y2: HEIGHT }));
  if (points.length > 1) {
    const first = x(0).toFixed(1);
    chart.append(s("path", { class: "area", d: `M${first},${HEIGHT} L${points.join(" L")} L${WIDTH},${HEIGHT} Z` }));
    chart.append(s("polyline", { class: "line", points: points.join(" ") }));
  }
  return chart;
}

// Bars over time, of {pages, errors}: errors stand on top.
export function bars(parts, label) {
  const highest = Math.max(1, ...parts.map((part) => part.pages + part.errors));
  const width = WIDTH / Math.max(12, parts.length);
  const chart = s("svg", { class: "chart low", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": label });
  parts.forEach((part, index) => {
    const good = (HEIGHT * part.pages) / highest;
    const bad = (HEIGHT * part.errors) / highest;
    const x = index * width;
    chart.append(s("rect", { class: "bar", x, width: width * 0.8, y: HEIGHT - good, height: good }));
    chart.append(s("rect", { class: "bad", x, width: width * 0.8, y: HEIGHT - good - bad, height: bad }));
  });
  chart.append(s("line", { class: "base", x1: 0, x2: WIDTH, y1: HEIGHT, y2: HEIGHT }));
  return chart;
}

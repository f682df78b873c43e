// Elements and words. Everything that comes from outside goes into the page as text, never as markup, and what would not show in it is named:
// controls, marks of direction, what takes no room. The style sheet isolates the direction of every piece.

const SVG = "http://www.w3.org/2000/svg";

// As the terminal has it, but for soft hyphens and for what joins and varies letters.
const unseen = /(?![\n\t\u00ad\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\u034f\u115f\u1160\u3164\uffa0]/gu;

export function shown(text) {
  return String(text).replace(unseen, (letter) => `\\u{${letter.codePointAt(0).toString(16)}}`);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.setAttribute("class", value);
    else if (name === "title" || name === "aria-label") element.setAttribute(name, shown(value));
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  add(element, children);
  return element;
}

export function add(element, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(shown(child)));
  }
}

// Attributes that could make a link or frame run something are set by the functions below, and nowhere else.
export function h(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function s(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

export function replace(element, ...children) {
  element.textContent = "";
  add(element, children);
}

export function byId(id) {
  return document.getElementById(id);
}

// A link within the console. Links to the Web are not made: an operator's click would be a visit.
export function link(route, text, attributes) {
  return h("a", { ...attributes, href: "#/" + route }, text);
}

export function urlLink(url) {
  return link("url?u=" + encodeURIComponent(url), url, { class: "mono" });
}

export function hostLink(host) {
  return link("host/" + encodeURIComponent(host), host, { class: "mono" });
}

export function domainLink(domain) {
  return link("domain/" + encodeURIComponent(domain), domain, { class: "mono" });
}

const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const one = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

export function count(number) {
  return number === null || number === undefined ? "–" : whole.format(number);
}

export function rate(number) {
  if (number === null || number === undefined) return "–";
  return number < 10 ? one.format(number) : whole.format(number);
}

// A number that fits into a small place.
export function short(number) {
  for (const [unit, size] of [["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
    if (number >= size * 10 || (number >= size && size > 1e3)) return one.format(number / size) + " " + unit;
  }
  return whole.format(number);
}

export function bytes(number) {
  if (number === null || number === undefined) return "–";
  for (const [unit, size] of [["TB", 1e12], ["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) {
    if (number >= size) return one.format(number / size) + " " + unit;
  }
  return whole.format(number) + " B";
}

export function span(seconds) {
  if (seconds === null || seconds === undefined || !isFinite(seconds)) return "–";
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const at = units.findIndex(([, size]) => seconds >= size);
  if (at < 0) return seconds > 0 ? Math.round(seconds * 1000) + " ms" : "0 s";
  const [unit, size] = units[at];
  const first = Math.floor(seconds / size);
  const next = units[at + 1];
  const rest = next ? Math.floor((seconds - first * size) / next[1]) : 0;
  return rest > 0 && first < 10 ? `${first} ${unit} ${rest} ${next[0]}` : `${first} ${unit}`;
}

// What a visit took.
export function took(ms) {
  return ms < 1000 ? `${ms} ms` : span(ms / 1000);
}

export function time(unix) {
  if (!unix) return "–";
  const date = new Date(unix * 1000);
  if (isNaN(date)) return "–";
  const two = (number) => String(number).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export function ago(unix) {
  return unix ? span(Math.max(0, Date.now() / 1000 - unix)) + " ago" : "–";
}

export function facts(pairs) {
  const rows = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return h("dl", { class: "facts" }, rows.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
}

// A table; columns are {name, sort, num, cell}.
export function table(columns, rows, options = {}) {
  const head = columns.map((column) => {
    const sorted = column.sort && column.sort === options.sorted;
    const label = column.sort && options.sort
      ? h("button", { type: "button", onclick: () => options.sort(column.sort) }, column.name) : column.name;
    return h("th", { class: column.num ? "num" : column.class === "tight" ? "tight" : null, scope: "col", "aria-sort": sorted ? "descending" : null }, label);
  });
  const body = rows.map((row) => h("tr", {}, columns.map((column) =>
    h("td", { class: column.num ? "num" : column.class }, column.cell(row)))));
  return h("div", { class: "scroll" },
    h("table", { class: options.class }, h("caption", { class: "hidden" }, options.caption || ""),
      h("thead", {}, h("tr", {}, head)), h("tbody", {}, body)));
}

export function panel(title, ...children) {
  return h("section", { class: "panel" }, title ? h("h2", {}, title) : null, children);
}

export function announce(text) {
  byId("announce").textContent = shown(text);
}

export function outcomeClass(outcome) {
  const status = Number(outcome);
  if (status === 200) return "tag good";
  if (status > 0 && status < 400) return "tag";
  return status >= 400 && status < 500 ? "tag warn" : "tag bad";
}

// Asking the console. Changes carry a header that no other site can send. A token, where one is needed, comes with the address that was
// printed or is asked for; what is kept of it is a cookie that no script can read.

import { h, replace, byId } from "./dom.js";

function headers(more) {
  return { "X-Mattock": "1", ...more };
}

export class Problem extends Error {
  constructor(status, error, detail) {
    super(detail);
    this.status = status;
    this.error = error;
  }
}

async function read(response) {
  let value = null;
  try {
    value = await response.json();
  } catch {
    throw new Problem(response.status, "no-json", "The answer could not be read.");
  }
  if (response.ok) return value;
  throw new Problem(response.status, value.error, value.detail);
}

async function ask(path, options) {
  for (;;) {
    let response;
    try {
      response = await fetch("/api/v1/" + path, options());
    } catch {
      throw new Problem(0, "unreachable", "The console does not answer. Has the crawl ended?");
    }
    if (response.status !== 401) return response;
    await askToken();
  }
}

export async function get(path, query, signal) {
  const pairs = Object.entries(query || {}).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const text = new URLSearchParams(pairs).toString();
  return read(await ask(text ? path + "?" + text : path, () => ({ headers: headers(), signal })));
}

export async function post(path, body) {
  const options = () => ({ method: "POST", headers: headers({ "Content-Type": "application/json" }), body: JSON.stringify(body || {}) });
  return read(await ask(path, options));
}

// Where a stored page can be shown from: frames send no headers, and not always cookies, so that they need a ticket where there is a token.
export async function viewAddress(url, n) {
  const query = { u: url, n: String(n), ticket: (await post("tickets", { u: url, n })).ticket };
  return "/view?" + new URLSearchParams(query).toString();
}

let asking = null;

function askToken() {
  asking ??= new Promise((done) => {
    const input = h("input", { type: "password", id: "token", autocomplete: "off", required: true, size: 40 });
    const form = h("form", { class: "panel" }, h("h1", {}, "This console is closed to strangers"),
      h("p", { class: "soft" }, "Open the address that was printed when it was started, or enter the token: what that address ends in, or what was given with --console-token or MATTOCK_CONSOLE_TOKEN."),
      h("div", { class: "row" }, h("label", { class: "field grow" }, h("span", {}, "Token"), input), h("button", { class: "main" }, "Open")));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      try {
        await fetch("/api/v1/login", { method: "POST", headers: headers({ Authorization: "Bearer " + input.value.trim() }) });
      } catch {
        // Whoever asks next says that the console does not answer, or asks for the token again.
      }
      asking = null;
      done();
      window.dispatchEvent(new Event("mattock-token"));
    });
    replace(byId("main"), form);
    input.focus();
  });
  return asking;
}

// The stream of updates, over fetch so that a token can be asked for. Comes back by itself.
export async function follow(update, lost) {
  for (let wait = 1000; ; wait = Math.min(wait * 2, 15000)) {
    try {
      const response = await ask("live", () => ({ headers: headers() }));
      if (!response.ok || !response.body) throw new Error("no stream");
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        text += value;
        const parts = text.split("\n\n");
        text = parts.pop();
        for (const part of parts) {
          const line = part.split("\n").find((line) => line.startsWith("data: "));
          if (line) {
            wait = 500;
            update(JSON.parse(line.slice(6)));
          }
        }
      }
    } catch {
      // Said below.
    }
    lost();
    await new Promise((done) => setTimeout(done, wait));
  }
}

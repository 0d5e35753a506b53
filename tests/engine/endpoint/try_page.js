// Opens the page of an endpoint without a browser: runs its script on elements as plain objects, types into it, drops
// files, and prints its texts as JSON.   node try_page.js ADDRESS TOKEN row NAME=VALUE... | text TEXT | files FILE...
"use strict";
const fs = require("fs");
const path = require("path");
const [address, token, way, ...values] = process.argv.slice(2);

class Element {
  constructor(tag) {
    Object.assign(this, { tag, children: [], dataset: {}, attributes: {}, listeners: {}, hidden: false, value: "", own: "" });
    this.classList = { toggle() {} };
  }
  get textContent() { return this.own + this.children.map(one => one.textContent).join(" "); }
  set textContent(text) { this.own = String(text); this.children = []; }
  append(...made) { for (const one of made) this.children.push(typeof one === "string" ? Object.assign(new Element(""), { own: one }) : one); }
  replaceChildren(...made) { this.own = ""; this.children = made; }
  setAttribute(name, value) { this.attributes[name] = value; }
  addEventListener(kind, act) { this.listeners[kind] = act; }
  querySelectorAll(tag) { return this.children.flatMap(one => [...(one.tag === tag ? [one] : []), ...one.querySelectorAll(tag)]); }
  all() { return [this, ...this.children.flatMap(one => one.all())]; }
}

const pending = [];
async function main() {
  const page = await (await fetch(address)).text();
  const byId = {};
  for (const [, name, id, rest] of page.matchAll(/<(\w+) id="(\w+)"([^>]*)>/g)) {
    byId[id] = Object.assign(new Element(name), { hidden: / hidden/.test(rest) });
  }
  const document = new Element("document");
  Object.assign(document, {
    title: "",
    getElementById(id) {
      const made = byId[id] || Object.values(byId).flatMap(one => one.all()).find(one => one.id === id);
      if (!made) throw new Error(`the page has no element ${id}`);
      return made;
    },
    createElement: tag => new Element(tag),
  });
  const asked = (target, options) => {
    const answer = fetch(new URL(target, address), options);
    pending.push(answer.then(reply => reply.clone().text()));
    return answer;
  };
  const location = { hash: `#token=${encodeURIComponent(token)}`, pathname: "/" };
  const history = { replaceState() { location.hash = ""; } };
  class Address extends URL {}
  Address.createObjectURL = () => "blob:";
  Address.revokeObjectURL = () => {};
  const settled = async () => {
    for (let count = -1; count < pending.length; ) { count = pending.length; await Promise.all(pending); await new Promise(setImmediate); }
  };
  const [, script] = page.match(/<script>([\s\S]*)<\/script>/);
  new Function("document", "location", "history", "fetch", "URL", script)(document, location, history, asked, Address);
  await settled();
  const shown = { title: document.title, token_in_address: location.hash !== "", fields: byId.form.hidden ? null : byId.fields.querySelectorAll("input").map(one => one.name), drops: !byId.drop.hidden };
  if (way === "files") {
    const files = values.map(file => new File([fs.readFileSync(file)], path.basename(file), { type: file.endsWith(".png") ? "image/png" : "" }));
    document.listeners.drop({ type: "drop", preventDefault() {}, dataTransfer: { files } });
  } else if (!byId.form.hidden) {
    for (const value of way === "row" ? values : []) {
      const [name, text] = value.split("=");
      byId.fields.querySelectorAll("input").find(one => one.name === name).value = text;
    }
    if (way === "text") document.getElementById("text").value = values[0];
    byId.form.listeners.submit({ preventDefault() {} });
  }
  await settled();
  const rows = byId.answer.querySelectorAll("tr").map(one => one.children.map(cell => cell.textContent));
  console.log(JSON.stringify({ ...shown, error: byId.error.hidden ? "" : byId.error.textContent, answer: byId.answer.textContent, rows, picture: !byId.shown.hidden, json: byId.details.hidden ? null : JSON.parse(byId.json.textContent) }));
}
main();

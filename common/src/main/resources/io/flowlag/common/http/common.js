"use strict";
// What all pages share. Every value is put in by textContent or as an attribute, never as markup.
const SVG = "http://www.w3.org/2000/svg";
const NONE = "–";
const NEAR = "\u00a0"; // no line ends here

function byId(id) { return document.getElementById(id); }
function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) { made.textContent = text; }
  if (className) { made.className = className; }
  return made;
}
function drawn(name, attributes, text) {
  const made = document.createElementNS(SVG, name);
  for (const key in attributes) { made.setAttribute(key, attributes[key]); }
  if (text !== undefined) { made.textContent = text; }
  return made;
}
// Keeps the focus on what has the same key.
function put(id, ...children) {
  const box = byId(id);
  const active = document.activeElement;
  const key = box.contains(active) ? active.getAttribute("data-key") : null;
  const top = box.firstElementChild ? box.firstElementChild.scrollTop : 0;
  box.replaceChildren(...children);
  if (box.firstElementChild) { box.firstElementChild.scrollTop = top; }
  if (key) { const again = [...box.querySelectorAll("[data-key]")].find((each) => each.dataset.key === key); if (again) { again.focus(); } }
}
function nothing(text) { return element("p", text, "none"); }

function isAbsent(value) { return value === undefined || value === null; }
function duration(ns) {
  if (isAbsent(ns)) { return NONE; }
  for (const [scale, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]]) {
    if (Math.abs(ns) >= scale) { return Number((ns / scale).toPrecision(4)) + NEAR + unit; }
  }
  return Number(ns.toPrecision(4)) + NEAR + "ns";
}
function bounded(ns, bound) {
  return isAbsent(ns) ? NONE : duration(ns) + " ±" + NEAR + duration(bound);
}
function count(value) { return isAbsent(value) ? NONE : value.toLocaleString("en-US"); }
function percent(value) { return isAbsent(value) ? NONE : Number((100 * value).toPrecision(3)) + NEAR + "%"; }
function span(ms) {
  const s = Math.max(0, Math.round(ms / 1000));
  return s < 120 ? s + " s" : s < 7200 ? Math.floor(s / 60) + " min" : s < 172800 ? Math.floor(s / 3600) + " h" : Math.floor(s / 86400) + " d";
}
function time(ms) { return isAbsent(ms) ? NONE : new Date(ms).toLocaleString("sv-SE"); }

function table(label, names, rows, className) {
  const made = element("table", undefined, className);
  const head = made.appendChild(element("thead")).appendChild(element("tr"));
  for (const name of names) { head.appendChild(element("th", name)).scope = "col"; }
  const body = made.appendChild(element("tbody"));
  for (const row of rows) {
    const line = body.appendChild(element("tr"));
    row.forEach((value, i) => {
      const cell = line.appendChild(element(i === 0 ? "th" : "td"));
      if (i === 0) { cell.scope = "row"; }
      cell.setAttribute("data-name", names[i]);
      cell.append(value);
    });
  }
  const box = element("div", undefined, "scroll");
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-label", label);
  box.appendChild(made);
  return box;
}
function link(href, text, key) {
  const made = element("a");
  made.href = href;
  made.setAttribute("data-key", key);
  made.append(text);
  return made;
}
// Buttons of which one is chosen: [name, value].
function choices(id, all, chosen, onChoice) {
  for (const [name, value] of all) {
    const button = byId(id).appendChild(element("button", name));
    button.type = "button";
    button.setAttribute("aria-pressed", String(value === chosen));
    button.addEventListener("click", () => {
      for (const each of byId(id).children) { each.setAttribute("aria-pressed", String(each === button)); }
      onChoice(value);
    });
    byId(id).append(" ");
  }
}

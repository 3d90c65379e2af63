"use strict";
// Every value is put in by textContent or as an attribute, never as markup.
const SVG = "http://www.w3.org/2000/svg";
const POLL_MS = 2000;
const NONE = "–";
const NEAR = "\u00a0"; // no line ends here
const STEPS = [[1e4, "below 10 µs"], [1e5, "to 100 µs"], [1e6, "to 1 ms"], [1e7, "to 10 ms"], [Infinity, "above"]];
const RANGES = [["15 min", 900], ["1 h", 3600], ["6 h", 21600], ["24 h", 86400], ["7 d", 604800], ["30 d", 2592000], ["400 d", 34560000]];
const PAGES = ["map", "path", "alerts", "verdicts", "segment", "exporters"];
const data = {};
let rangeS = RANGES[1][1];
let mapClass;
let measure = "excess_ns"; // what colours say
let past; // segments and verdicts of the time that the map shows; undefined for now
let layout = {};
let plots = {};

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

function duration(ns) {
  if (ns === undefined) { return NONE; }
  for (const [scale, unit] of [[1e9, "s"], [1e6, "ms"], [1e3, "µs"]]) {
    if (Math.abs(ns) >= scale) { return Number((ns / scale).toPrecision(4)) + NEAR + unit; }
  }
  return Number(ns.toPrecision(4)) + NEAR + "ns";
}
function bounded(ns, bound) {
  return ns === undefined ? NONE : duration(ns) + " ±" + NEAR + duration(bound);
}
function count(value) { return value === undefined ? NONE : value.toLocaleString("en-US"); }
function percent(value) { return value > 0.9995 ? "above 99.9" + NEAR + "%" : Number((100 * value).toPrecision(3)) + NEAR + "%"; }
function lost(window) {
  if (window.lost_packets === undefined) { return NONE; }
  return (window.loss_kind === "exact" ? "" : "at most ") + count(window.lost_packets);
}
function span(ms) {
  const s = Math.max(0, Math.round(ms / 1000));
  return s < 120 ? s + " s" : s < 7200 ? Math.floor(s / 60) + " min" : s < 172800 ? Math.floor(s / 3600) + " h" : Math.floor(s / 86400) + " d";
}
function time(ms) { return ms === undefined ? NONE : new Date(ms).toLocaleString("sv-SE"); }
function step(ns) { return STEPS.findIndex((each) => ns < each[0]); }
function keyOf(segment) { return JSON.stringify([segment.network, segment.segment, segment.class === undefined ? null : segment.class]); }
function nameOf(segment) { return segment.segment + (segment.class === undefined ? "" : ", class " + segment.class); }
function hrefOf(key) { return "#segment/" + encodeURIComponent(key); }

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
function link(href, text, key, swatch) {
  const made = element("a");
  made.href = href;
  made.setAttribute("data-key", key);
  if (swatch !== undefined) {
    const dot = made.appendChild(element("span", undefined, "swatch" + (swatch < 0 ? "" : " e" + swatch)));
    dot.setAttribute("aria-hidden", "true");
  }
  made.append(text);
  return made;
}
function named(segment) {
  const made = element("span");
  made.appendChild(link(hrefOf(keyOf(segment)), segment.segment, keyOf(segment), swatchOf(segment)));
  if (!segment.is_current) { made.append(" ", element("span", "last at " + time(segment.end_ms), "faint")); }
  return made;
}
function swatchOf(segment) { return segment[measure] === undefined || !segment.is_current ? -1 : step(segment[measure]); }

async function load(path) {
  const answer = await fetch("/api/" + path);
  const body = await answer.json();
  if (!answer.ok) { throw Object.assign(new Error(body.detail), {status: answer.status}); }
  return body;
}
function page() { const name = location.hash.slice(1).split("/")[0]; return PAGES.includes(name) ? name : "map"; }
function worstFirst(segments) {
  const order = (each) => each[measure] === undefined || !each.is_current ? -Infinity : each[measure];
  return [...segments].sort((one, other) => order(other) - order(one) || one.segment.localeCompare(other.segment));
}
// Without a choice, the segment that is worst now; it stays.
function chosen() {
  const written = location.hash.split("/")[1];
  const keys = data.segments ? data.segments.segments.map(keyOf) : [];
  const key = written ? decodeURIComponent(written) : keys.length > 0 ? keyOf(worstFirst(data.segments.segments)[0]) : undefined;
  if (!written && key !== undefined && page() === "segment") { history.replaceState(null, "", hrefOf(key)); }
  return {key, segment: data.segments && data.segments.segments.find((each) => keyOf(each) === key)};
}

"use strict";
const POLL_MS = 2000;
const STEPS = [[1e4, "below 10 µs"], [1e5, "to 100 µs"], [1e6, "to 1 ms"], [1e7, "to 10 ms"], [Infinity, "above"]];
const RANGES = [["15 min", 900], ["1 h", 3600], ["6 h", 21600], ["24 h", 86400], ["7 d", 604800], ["30 d", 2592000], ["400 d", 34560000]];
const PAGES = ["map", "path", "alerts", "verdicts", "segment", "exporters"];
const data = {};
let rangeS = RANGES[1][1];
let mapClass;
let measure = "excess_ns"; // what colours say
let past; // segments and verdicts of the time that the map shows; undefined for now
let layout = {};

function lost(window) {
  if (window.lost_packets === undefined) { return NONE; }
  return (window.loss_kind === "exact" ? "" : "at most ") + count(window.lost_packets);
}
function probability(value) { return value > 0.9995 ? "above 99.9" + NEAR + "%" : percent(value); }
function step(ns) { return STEPS.findIndex((each) => ns < each[0]); }
function keyOf(segment) { return JSON.stringify([segment.network, segment.segment, segment.class === undefined ? null : segment.class]); }
function nameOf(segment) { return segment.segment + (segment.class === undefined ? "" : ", class " + segment.class); }
function hrefOf(key) { return "#segment/" + encodeURIComponent(key); }

function marked(href, text, key, swatch) {
  const made = link(href, text, key);
  const dot = element("span", undefined, "swatch" + (swatch < 0 ? "" : " e" + swatch));
  dot.setAttribute("aria-hidden", "true");
  made.prepend(dot);
  return made;
}
function named(segment) {
  const made = element("span");
  made.appendChild(marked(hrefOf(keyOf(segment)), segment.segment, keyOf(segment), swatchOf(segment)));
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

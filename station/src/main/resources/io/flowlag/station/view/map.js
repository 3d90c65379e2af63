"use strict";
// The map.
function places() {
  const network = data.network;
  const signature = JSON.stringify([network.nodes, network.hops.map((hop) => [hop.from, hop.to])]);
  if (layout.signature === signature) { return layout.places; }
  const rad = Math.PI / 180;
  const known = network.nodes.filter((node) => node.latitude_degrees !== undefined && node.longitude_degrees !== undefined);
  const middle = known.reduce((sum, node) => sum + node.latitude_degrees, 0) / (known.length || 1);
  const nodes = network.nodes.map((node) => ({name: node.name}));
  const scale = 60;
  network.nodes.forEach((node, i) => {
    if (known.includes(node)) {
      nodes[i].fx = node.longitude_degrees * Math.cos(middle * rad) * scale;
      nodes[i].fy = -node.latitude_degrees * scale;
    }
  });
  if (known.length < nodes.length) {
    const links = network.hops.map((hop) => ({source: hop.from, target: hop.to}));
    d3.forceSimulation(nodes).force("charge", d3.forceManyBody().strength(-300)).force("centre", d3.forceCenter())
      .force("link", d3.forceLink(links).id((node) => node.name).distance(60)).stop().tick(300);
  }
  const found = new Map();
  for (const node of nodes) { found.set(node.name, [node.fx === undefined ? node.x : node.fx, node.fy === undefined ? node.y : node.fy]); }
  layout = {signature, places: found};
  return found;
}
function fitted(width, height) {
  const all = [...places().values()];
  const low = [0, 1].map((i) => Math.min(...all.map((place) => place[i])));
  const high = [0, 1].map((i) => Math.max(...all.map((place) => place[i])));
  const margin = 46;
  const scale = Math.min((width - 2 * margin) / (high[0] - low[0] || 1), (height - 2 * margin) / (high[1] - low[1] || 1));
  const at = new Map();
  for (const [name, place] of places()) {
    at.set(name, [width / 2 + (place[0] - (low[0] + high[0]) / 2) * scale, height / 2 + (place[1] - (low[1] + high[1]) / 2) * scale]);
  }
  return at;
}
function curve(a, b, bend) {
  const x = (a[0] + b[0]) / 2 - (b[1] - a[1]) * bend;
  const y = (a[1] + b[1]) / 2 + (b[0] - a[0]) * bend;
  return "M" + a.map(Math.round) + "Q" + Math.round(x) + "," + Math.round(y) + " " + b.map(Math.round);
}
function mapData() { return past || data; }
function ofClass() { return mapData().segments.segments.filter((each) => (each.class === undefined ? "" : String(each.class)) === mapClass); }
// Of the past, REST does not say which hops are blind: those that no segment with a mean takes.
function blindness() {
  if (!past) { return (hop) => hop.is_blind; }
  const measured = new Set(past.segments.segments.filter((each) => each.mean_ns !== undefined).map((each) => each.segment));
  const key = (hop) => JSON.stringify([hop.from, hop.to]);
  const seen = new Set(data.network.segments.filter((each) => measured.has(each.segment)).flatMap((each) => each.hops.map(key)));
  return (hop) => !seen.has(key(hop));
}
function drawMap() {
  const network = data.network;
  const width = Math.max(260, byId("net").clientWidth);
  const height = Math.min(720, Math.max(300, width * 0.62));
  const at = fitted(width, height);
  const shown = ofClass();
  const slow = mapData().verdicts.verdicts.filter((verdict) => verdict.is_current && verdict.kind === "slow_hop");
  const isBlind = blindness();
  const blind = network.hops.filter(isBlind).length;
  const picture = drawn("svg", {class: "net", viewBox: "0 0 " + width + " " + height, height, role: "img", "aria-label":
    "Map of " + network.nodes.length + " nodes, " + network.hops.length + " hops, of which " + blind + " blind, and " +
    network.segments.length + " segments, which the table has with their values."});
  const arrow = picture.appendChild(drawn("defs", {})).appendChild(drawn("marker",
    {id: "arrow", viewBox: "0 0 8 8", refX: 11, refY: 4, markerWidth: 13, markerHeight: 13, orient: "auto", markerUnits: "userSpaceOnUse"}));
  arrow.appendChild(drawn("path", {d: "M0,0L8,4L0,8z", fill: "context-stroke"}));
  const line = (hop, className) => drawn("path", {class: className, d: curve(at.get(hop.from), at.get(hop.to), 0)});
  for (const hop of network.hops) { picture.appendChild(line(hop, isBlind(hop) ? "hop blind" : "hop")); }
  const nowOf = new Map(shown.map((each) => [each.segment, each]));
  const valueOf = (segment) => {
    const now = nowOf.get(segment.segment);
    return now && now.is_current && now[measure] !== undefined ? now[measure] : -Infinity;
  };
  for (const segment of [...network.segments].sort((one, other) => valueOf(one) === valueOf(other) ? 0 : valueOf(one) < valueOf(other) ? -1 : 1)) {
    const now = nowOf.get(segment.segment);
    const has = valueOf(segment) > -Infinity;
    const path = picture.appendChild(drawn("path", {class: "seg " + (has ? "e" + step(now[measure]) : "gone"),
      d: curve(at.get(segment.from), at.get(segment.to), 0.1), "marker-end": "url(#arrow)",
      "stroke-width": has ? Math.min(5, 1 + 0.7 * Math.log10(1 + now.packets)) : 1.5}));
    path.appendChild(drawn("title", {}, segment.segment + ": " + (now ? "mean " + bounded(now.mean_ns, now.bound_ns) +
      ", excess " + duration(now.excess_ns) + (now.is_current ? "" : ", last at " + time(now.end_ms)) : "no window")));
    if (now) { path.addEventListener("click", () => { location.hash = hrefOf(keyOf(now)); }); }
  }
  for (const verdict of slow) {
    for (const suspect of verdict.suspects) {
      if (at.has(suspect.from) && at.has(suspect.to)) {
        picture.appendChild(line(suspect, "suspect")).appendChild(
          drawn("title", {}, "slow: " + suspect.from + " → " + suspect.to + ", " + probability(suspect.probability)));
      }
    }
  }
  const points = new Set(network.points.map((point) => point.node));
  for (const node of network.nodes) {
    const [x, y] = at.get(node.name);
    const dot = picture.appendChild(drawn("circle", {class: points.has(node.name) ? "node point" : "node", cx: x, cy: y, r: 5}));
    dot.appendChild(drawn("title", {}, node.name));
    if (network.nodes.length <= 80) {
      picture.appendChild(drawn("text", {x, y: y + 19, "text-anchor": "middle"}, node.name));
    }
  }
  put("net", picture);
}
function legend() {
  const row = (className, text, width) => {
    const made = element("li");
    const sample = made.appendChild(drawn("svg", {viewBox: "0 0 26 8", "aria-hidden": "true"}));
    sample.appendChild(drawn("path", {class: className, d: "M0,4L26,4", "stroke-width": width}));
    made.append(text);
    return made;
  };
  put("legend", ...STEPS.map((each, i) => row("e" + i, (i === 0 ? measureName() + " " : "") + each[1], 4)), row("seg gone", "segment without it", 2),
    row("hop", "hop", 2), row("hop blind", "blind hop", 7), row("suspect", "suspect of a slow hop", 8));
}
function measureName() { return measure === "mean_ns" ? "mean" : "excess"; }
// The slider has a step for each window of the last day.
function timeOf(value) {
  const newest = data.segments.segments.find((each) => each.end_ms === data.segments.newest_ms);
  const length = newest ? newest.end_ms - newest.start_ms : 60000;
  return {steps: Math.round(86400000 / length), ms: newest ? newest.start_ms + value * length : undefined};
}
async function showTime() {
  const slider = byId("map-time");
  const value = Number(slider.value);
  const {steps, ms} = timeOf(value);
  slider.min = -steps;
  const text = value === 0 || ms === undefined ? "now" : time(ms);
  byId("map-at").textContent = text;
  slider.setAttribute("aria-valuetext", text);
  if (text === "now") { past = undefined; show(); return; }
  const at = "?" + new URLSearchParams({at: new Date(ms).toISOString()});
  try {
    const [segments, verdicts] = await Promise.all([load("segments" + at), load("verdicts" + at)]);
    if (Number(slider.value) === value) { past = {ms, segments, verdicts}; show(); }
  } catch (fault) {
    state("no answer from the station: " + fault.message, "bad");
  }
}
function showMap() {
  if (!past) { byId("map-time").min = -timeOf(0).steps; }
  const classes = [...new Set(mapData().segments.segments.map((each) => each.class === undefined ? "" : String(each.class)))]
    .sort((one, other) => Number(one) - Number(other));
  if (!classes.includes(mapClass)) { mapClass = classes.length > 0 ? classes[0] : ""; }
  const options = classes.map((each) => { const made = element("option", each === "" ? "not told apart" : each); made.value = each; return made; });
  if (byId("map-class").dataset.all !== classes.join()) {
    byId("map-class").dataset.all = classes.join();
    put("map-class", ...options);
  }
  byId("map-class").value = mapClass;
  drawMap();
  const shown = worstFirst(ofClass());
  put("segments", shown.length === 0 ? nothing(past ? "No window is kept of this time." : "No segment has a window yet.") : table("Table of segments",
    ["segment", "mean", "excess", "packets", "lost"], shown.map((each) => [
      named(each),
      bounded(each.mean_ns, each.bound_ns), duration(each.excess_ns), count(each.packets), lost(each)]), "stack"));
  const unmapped = data.network.not_on_the_map;
  put("unmapped", ...(unmapped.length === 0 ? [] : [element("p", "Not on the map: " + unmapped.join(", "), "faint")]));
}

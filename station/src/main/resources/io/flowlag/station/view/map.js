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
function ofClass() { return data.segments.segments.filter((each) => (each.class === undefined ? "" : String(each.class)) === mapClass); }
function drawMap() {
  const network = data.network;
  const width = Math.max(260, byId("net").clientWidth);
  const height = Math.min(720, Math.max(300, width * 0.62));
  const at = fitted(width, height);
  const shown = ofClass();
  const slow = data.verdicts.verdicts.filter((verdict) => verdict.is_current && verdict.kind === "slow_hop");
  const blind = network.hops.filter((hop) => hop.is_blind).length;
  const picture = drawn("svg", {class: "net", viewBox: "0 0 " + width + " " + height, height, role: "img", "aria-label":
    "Map of " + network.nodes.length + " nodes, " + network.hops.length + " hops, of which " + blind + " blind, and " +
    network.segments.length + " segments, which the table has with their values."});
  const arrow = picture.appendChild(drawn("defs", {})).appendChild(drawn("marker",
    {id: "arrow", viewBox: "0 0 8 8", refX: 11, refY: 4, markerWidth: 13, markerHeight: 13, orient: "auto", markerUnits: "userSpaceOnUse"}));
  arrow.appendChild(drawn("path", {d: "M0,0L8,4L0,8z", fill: "context-stroke"}));
  const line = (hop, className) => drawn("path", {class: className, d: curve(at.get(hop.from), at.get(hop.to), 0)});
  for (const hop of network.hops) { picture.appendChild(line(hop, hop.is_blind ? "hop blind" : "hop")); }
  const nowOf = new Map(shown.map((each) => [each.segment, each]));
  const excessOf = (segment) => {
    const now = nowOf.get(segment.segment);
    return now && now.is_current && now.excess_ns !== undefined ? now.excess_ns : -Infinity;
  };
  for (const segment of [...network.segments].sort((one, other) => excessOf(one) === excessOf(other) ? 0 : excessOf(one) < excessOf(other) ? -1 : 1)) {
    const now = nowOf.get(segment.segment);
    const has = excessOf(segment) > -Infinity;
    const path = picture.appendChild(drawn("path", {class: "seg " + (has ? "e" + step(now.excess_ns) : "gone"),
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
          drawn("title", {}, "slow: " + suspect.from + " → " + suspect.to + ", " + percent(suspect.probability)));
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
  put("legend", ...STEPS.map((each, i) => row("e" + i, (i === 0 ? "excess " : "") + each[1], 4)), row("seg gone", "segment without excess", 2),
    row("hop", "hop", 2), row("hop blind", "blind hop", 2), row("suspect", "suspect of a slow hop", 8));
}
function showMap() {
  const classes = [...new Set(data.segments.segments.map((each) => each.class === undefined ? "" : String(each.class)))]
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
  put("segments", shown.length === 0 ? nothing("No segment has a window yet.") : table("Table of segments",
    ["segment", "mean", "excess", "packets", "lost"], shown.map((each) => [
      named(each),
      bounded(each.mean_ns, each.bound_ns), duration(each.excess_ns), count(each.packets), lost(each)]), "stack"));
  const unmapped = data.network.not_on_the_map;
  put("unmapped", ...(unmapped.length === 0 ? [] : [element("p", "Not on the map: " + unmapped.join(", "), "faint")]));
}

"use strict";
const PROTOCOLS = {1: "ICMP", 6: "TCP", 17: "UDP", 58: "ICMPv6"};
const FIELDS = ["src", "dst", "protocol", "src_port", "dst_port", "at"];
const MOST_ROUTES = 5;

// What the address asks for: REST's own parameters.
function askedPaths() { return location.hash.startsWith("#path/") ? location.hash.slice(6) : ""; }
function end(address, port) { return port === 0 ? address : (address.includes(":") ? "[" + address + "]" : address) + ":" + port; }
function flowName(path) {
  return (PROTOCOLS[path.protocol] || "protocol " + path.protocol) + " " + end(path.source, path.source_port) + " → " +
    end(path.destination, path.destination_port);
}
function flowHref(path) {
  return "#path/" + new URLSearchParams({src: path.source, dst: path.destination, protocol: path.protocol,
    src_port: path.source_port, dst_port: path.destination_port});
}
// Where each stretch begins and ends on the scale; behind an unknown gap, where the one before ended.
function placed(stretches) {
  let at = 0;
  return stretches.map((stretch) => {
    const begin = at;
    at += stretch.mean_ns === undefined ? 0 : stretch.mean_ns;
    return {stretch, begin, end: at};
  });
}
function bar(begin, end, bound, low, high, className) {
  const share = (ns) => 100 * (ns - low) / (high - low || 1) + "%";
  const width = (ns) => 100 * ns / (high - low || 1) + "%";
  const made = drawn("svg", {class: "bar-cell", "aria-hidden": "true"});
  made.appendChild(drawn("rect", {class: className, x: share(Math.min(begin, end)), y: 4, width: width(Math.abs(end - begin)), height: 10}));
  if (bound !== undefined) {
    made.appendChild(drawn("line", {class: "whisker", x1: share(end - bound), x2: share(end + bound), y1: 9, y2: 9}));
    for (const x of [end - bound, end + bound]) { made.appendChild(drawn("line", {class: "whisker", x1: share(x), x2: share(x), y1: 5, y2: 13})); }
  }
  return made;
}
function stretchName(stretch) {
  const found = data.segments.segments.filter((each) => each.segment === stretch.segment);
  return stretch.segment === undefined ? element("span", "gap", "faint") : found.length === 0 ? element("span", stretch.segment) :
    link(hrefOf(keyOf(found[0])), stretch.segment, "stretch " + stretch.segment);
}
function waterfall(route, label, low, high) {
  const isKnown = route.stretches.every((each) => each.mean_ns !== undefined);
  const rows = placed(route.stretches).map(({stretch, begin, end}) => [stretchName(stretch), stretch.from + " → " + stretch.to,
    stretch.mean_ns === undefined ? element("span", "not known", "faint") :
      bar(begin, end, stretch.bound_ns, low, high, stretch.segment === undefined ? "gap" : "stretch"),
    bounded(stretch.mean_ns, stretch.bound_ns), count(stretch.lost_packets), count(stretch.packets)]);
  const first = route.stretches[0];
  const last = route.stretches[route.stretches.length - 1];
  if (first) {
    rows.push([element("b", "end to end"), first.from + " → " + last.to,
      isKnown && route.mean_ns !== undefined ? bar(0, route.mean_ns, route.bound_ns, low, high, "total") : element("span", "a gap is not known", "faint"),
      bounded(route.mean_ns, route.bound_ns), NONE, NONE]);
  }
  return table(label, ["stretch", "from and to", "0 at the left, " + duration(high) + " at the right", "mean", "lost", "packets"], rows, "stack waterfall");
}
function routeCard(route, index, low, high, flow) {
  const made = element("article");
  made.appendChild(element("h4", flow ? flowName(flow) : count(route.flows) + (route.flows === 1 ? " flow" : " flows") +
    (route.stretches.length > 0 ? " from " + route.stretches[0].from + " to " + route.stretches[route.stretches.length - 1].to : "")));
  made.appendChild(waterfall(route, "Waterfall " + (index + 1), low, high));
  const notes = ["Bound of the clocks that do not cancel: " + duration(route.clock_bound_ns) + "."];
  if (flow) {
    notes.push("Standard deviation " + duration(flow.least_deviation_ns) + " if segments are independent, " +
      duration(flow.most_deviation_ns) + " if they vary together.");
    if (flow.is_divided) { notes.push("A record that spans several windows was divided by time."); }
    if (!flow.is_final) { notes.push("Provisional: more records may come."); }
  }
  made.appendChild(element("p", notes.join(" "), "faint"));
  return made;
}
// Windows that can be asked for; that which is asked for stays, also when it is too old.
function showEnds(at) {
  const ends = (data.paths.window_ends_ms || []).map((ms) => new Date(ms).toISOString()).reverse();
  const all = at && !ends.includes(at) ? [at, ...ends] : ends;
  if (byId("path-at").dataset.all === all.join()) { return; }
  const chosen = byId("path-at").value;
  byId("path-at").dataset.all = all.join();
  byId("path-at").replaceChildren(...["", ...all].map((each) => {
    const made = element("option", each === "" ? "the newest" : "to " + time(Date.parse(each)));
    made.value = each;
    return made;
  }));
  byId("path-at").value = all.includes(chosen) ? chosen : "";
}
function showPath() {
  const asked = new URLSearchParams(askedPaths());
  showEnds(asked.get("at"));
  if (byId("path-form").dataset.asked !== asked.toString()) {
    byId("path-form").dataset.asked = asked.toString();
    for (const name of FIELDS) { byId("path-" + name).value = asked.get(name) || ""; }
  }
  const {flows, routes, paths, fault} = data.paths;
  byId("path-fault").hidden = fault === undefined;
  byId("path-fault").textContent = fault || "";
  const shown = routes.slice(0, MOST_ROUTES);
  const ends = shown.flatMap((route) => placed(route.stretches).flatMap((each) => {
    const bound = each.stretch.bound_ns === undefined ? 0 : each.stretch.bound_ns;
    return [each.begin, each.end - bound, each.end + bound];
  })).concat(shown.flatMap((route) => route.mean_ns === undefined ? [] : [route.mean_ns + (route.bound_ns || 0)]));
  const low = Math.min(0, ...ends);
  const high = Math.max(0, ...ends);
  put("path-window", paths.length === 0 ? "" : time(paths[0].start_ms) + " to " + new Date(paths[0].end_ms).toLocaleTimeString("sv-SE"));
  put("routes", ...(shown.length === 0 ? [nothing(fault ? NONE : "No flow was seen along a path" + (askedPaths() ? " between these." : " yet."))] :
    shown.map((route, i) => routeCard(route, i, low, high, flows === 1 ? paths[0] : undefined))),
    ...(routes.length > MOST_ROUTES ? [element("p", "And " + (routes.length - MOST_ROUTES) + " routes with fewer flows.", "faint")] : []));
  put("flows-count", paths.length < flows ? "the first " + paths.length + " of " + count(flows) : count(flows));
  put("flows", paths.length === 0 ? nothing(NONE) : table("Table of flows", ["flow", "end to end", "stretches", "gaps", "not known"], paths.map((path) => [
    link(flowHref(path), flowName(path), flowName(path)), bounded(path.mean_ns, path.bound_ns), String(path.stretches.length),
    String(path.stretches.filter((each) => each.segment === undefined).length),
    String(path.stretches.filter((each) => each.mean_ns === undefined).length)]), "stack"));
}
async function loadPaths() {
  try {
    return await load("paths?" + askedPaths());
  } catch (fault) {
    if (fault.status !== 400) { throw fault; }
    return {flows: 0, routes: [], paths: [], fault: fault.message};
  }
}
byId("path-form").addEventListener("submit", (event) => {
  event.preventDefault();
  const asked = FIELDS.map((name) => [name, byId("path-" + name).value.trim()]).filter((each) => each[1] !== "");
  location.hash = "#path/" + new URLSearchParams(asked);
});

"use strict";
// A segment.
function showSegment() {
  const keys = data.segments.segments.map(keyOf);
  const {key, segment} = chosen();
  if (byId("which").dataset.all !== keys.join() + key) {
    byId("which").dataset.all = keys.join() + key;
    const all = key === undefined || keys.includes(key) ? keys : [key, ...keys];
    put("which", ...all.map((each) => {
      const [network, name, dscp] = JSON.parse(each);
      const made = element("option", nameOf({segment: name, class: dscp === null ? undefined : dscp}) + " (" + network + ")");
      made.value = each;
      return made;
    }));
  }
  if (key !== undefined) { byId("which").value = key; }
  byId("segment-name").textContent = "Segment" + (segment ? " " + nameOf(segment) : "");
  if (!segment) {
    put("window");
    put("values", nothing("There is no window yet."));
  } else {
    put("window", time(segment.start_ms) + " to " + new Date(segment.end_ms).toLocaleTimeString("sv-SE") + (segment.is_final ? "" : ", provisional") +
      (segment.is_current ? "" : ", and none since"));
    const list = element("dl", undefined, "tiles");
    const relative = segment.quantile_error_ratio;
    const quantile = (ns) => ns === undefined ? NONE : bounded(ns, ns * relative);
    for (const [name, value] of [["mean", bounded(segment.mean_ns, segment.bound_ns)], ["bound of the clocks", duration(segment.clock_bound_ns)],
      ["excess", duration(segment.excess_ns)], ["floor", duration(segment.floor_ns)], ["50 % quantile", quantile(segment.p50_ns)],
      ["90 % quantile", quantile(segment.p90_ns)], ["99 % quantile", quantile(segment.p99_ns)], ["smallest", duration(segment.minimum_ns)],
      ["largest", duration(segment.maximum_ns)], ["standard deviation", duration(segment.deviation_ns)], ["packets", count(segment.packets)],
      ["samples", count(segment.samples)], ["lost packets", lost(segment)], ["source of the mean", segment.source || NONE],
      ["floor has moved", segment.is_floor_moved ? "yes" : "no"]]) {
      const box = list.appendChild(element("div"));
      box.append(element("dt", name), element("dd", value));
    }
    put("values", list);
  }
  if (data.history) { drawHistory(data.history.windows); }
}
// Columns for the plot; where windows are missing, an empty row between.
function columns(windows, ...values) {
  const made = [[], ...values.map(() => [])];
  let endMs;
  for (const window of windows) {
    if (endMs !== undefined && window.start_ms > endMs) {
      made[0].push((endMs + window.start_ms) / 2000);
      values.forEach((each, i) => made[i + 1].push(null));
    }
    endMs = window.end_ms;
    made[0].push((window.start_ms + window.end_ms) / 2000);
    values.forEach((each, i) => { const value = each(window); made[i + 1].push(value === undefined ? null : value); });
  }
  return made;
}
function draw(id, label, height, series, bands, format, values) {
  plot(id, {label, height, bands, format, times: "middle of the window", over: drawChanges, range: () =>
    [data.segments.now_ms / 1000 - rangeS, data.segments.now_ms / 1000]}, series, values);
}
// Where a delay or a floor has changed, and where a service level began to burn.
function changesOf(windows) {
  const {segment} = chosen();
  const floors = windows.filter((each) => each.is_floor_moved).map((each) => ({ms: each.start_ms, text: "the floor moved up: route or clock have changed"}));
  const told = !segment ? [] : data.alerts.alerts.filter((each) => each.network === segment.network && each.segment === segment.segment &&
    each.class === segment.class).flatMap((each) => [{ms: each.starts_ms, text: each.summary}].concat(
    each.ends_ms === undefined ? [] : [{ms: each.ends_ms, text: "over: " + each.summary}]));
  const sinceMs = data.segments.now_ms - rangeS * 1000;
  return floors.concat(told).filter((each) => each.ms >= sinceMs).sort((one, other) => other.ms - one.ms);
}
let changes = [];
function drawChanges(u) {
  u.ctx.save();
  u.ctx.strokeStyle = colour("--bad");
  u.ctx.lineWidth = 1.5 * devicePixelRatio;
  u.ctx.setLineDash([5 * devicePixelRatio, 4 * devicePixelRatio]);
  for (const change of changes) {
    const x = u.valToPos(change.ms / 1000, "x", true);
    u.ctx.beginPath();
    u.ctx.moveTo(x, u.bbox.top);
    u.ctx.lineTo(x, u.bbox.top + u.bbox.height);
    u.ctx.stroke();
  }
  u.ctx.restore();
}
function drawHistory(windows) {
  changes = changesOf(windows);
  put("changes", changes.length === 0 ? nothing("None is known.") : table("Table of changes", ["time", "what"],
    changes.map((each) => [time(each.ms), each.text]), "stack words"));
  if (windows.length === 0) {
    unplot("delays");
    unplot("losses");
    put("delays", nothing("No window is kept of this time."));
    put("losses");
    put("past", nothing("No window is kept of this time."));
    return;
  }
  const edge = (sign) => (each) => each.bound_ns === undefined || each.mean_ns === undefined ? undefined : each.mean_ns + sign * each.bound_ns;
  draw("delays", "Mean delay over time with its bound, floor and 99 % quantile", 300, [
    {label: "mean", stroke: colour("--e1")}, {label: "mean + bound", stroke: colour("--e1"), width: 0.5, points: {show: false}},
    {label: "mean − bound", stroke: colour("--e1"), width: 0.5, points: {show: false}},
    {label: "floor", stroke: colour("--e0"), dash: [6, 4], points: {show: false}},
    {label: "99 % quantile", stroke: colour("--e3"), points: {show: false}}],
    [{series: [2, 3], fill: colour("--e1") + "33"}], duration,
    columns(windows, (each) => each.mean_ns, edge(1), edge(-1), (each) => each.floor_ns, (each) => each.p99_ns));
  draw("losses", "Lost packets over time", 170, [{label: "lost, or at most", stroke: colour("--e4")}], [], count,
    columns(windows, (each) => each.lost_packets));
  put("past", table("Table of history", ["window", "mean", "floor", "99 % quantile", "packets", "lost", "sums"], windows.slice(-200).reverse().map((each) => [
    time(each.start_ms), bounded(each.mean_ns, each.bound_ns), duration(each.floor_ns),
    each.p99_ns === undefined ? NONE : bounded(each.p99_ns, each.p99_ns * each.quantile_error_ratio),
    count(each.packets), lost(each), String(each.windows)]), "stack"));
}

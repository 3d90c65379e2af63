"use strict";
// What a report shows of the data that stands in it. Times are UTC, for who reads it may be elsewhere.
const report = JSON.parse(byId("data").textContent);
const steps = report.steps[0];
const E = {mean: "flowlagDelayMeanNanoseconds", bound: "flowlagDelayErrorBoundNanoseconds", sd: "flowlagDelayStandardDeviationNanoseconds",
  p50: "flowlagDelayP50Nanoseconds", p90: "flowlagDelayP90Nanoseconds", p99: "flowlagDelayP99Nanoseconds", min: "flowlagDelayMinimumNanoseconds", max: "flowlagDelayMaximumNanoseconds", measured: "flowlagDelayPacketDeltaCount",
  lost: "flowlagLostPacketDeltaCount", kind: "flowlagLossKind", estimator: "flowlagDelayEstimator", packets: "packetDeltaCount", octets: "octetDeltaCount",
  records: "deltaFlowCount"};
const ESTIMATORS = ["–", "interpolated", "left", "sketch", "joint", "exact sums", "matched", "mixed paths"];
const UPPER_BOUND = 2, DAY_MS = 86400000, WORST = 5;
let chosenClass = steps.classes.length === 0 ? "" : steps.classes[0].name;
let shownFlow;

function time(ms) { return isAbsent(ms) ? NONE : new Date(ms).toISOString().slice(0, 19).replace("T", " "); }
function lossOf(row) { return isAbsent(row[E.lost]) ? NONE : (row[E.kind] === UPPER_BOUND ? "at most " : "") + count(row[E.lost]); }
function shareOf(row) { return isAbsent(row[E.lost]) || row[E.lost] + row[E.packets] === 0 ? undefined : row[E.lost] / (row[E.lost] + row[E.packets]); }
function startOf(row) { return row._start === undefined ? undefined : Date.parse(row._start); }
function durationOf(row) { return row._start === undefined || row._end === undefined ? undefined : Date.parse(row._end) - Date.parse(row._start); }
// Name, value to sort by, text; what no row has is left out.
const COLUMNS = [
  ["mean", (row) => row[E.mean], (row) => bounded(row[E.mean], row[E.bound])],
  ["deviation", (row) => row[E.sd], (row) => duration(row[E.sd])],
  ["50 %", (row) => row[E.p50], (row) => duration(row[E.p50])],
  ["90 %", (row) => row[E.p90], (row) => duration(row[E.p90])],
  ["99 %", (row) => row[E.p99], (row) => duration(row[E.p99])],
  ["largest", (row) => row[E.max], (row) => duration(row[E.max])],
  ["lost", (row) => row[E.lost], lossOf],
  ["loss", shareOf, (row) => percent(shareOf(row))],
  ["measured", (row) => row[E.measured], (row) => count(row[E.measured])],
  ["by", (row) => row[E.estimator], (row) => ESTIMATORS[row[E.estimator] || 0] || String(row[E.estimator])],
  ["packets", (row) => row[E.packets], (row) => count(row[E.packets])],
  ["octets", (row) => row[E.octets], (row) => count(row[E.octets])],
  ["records", (row) => row[E.records], (row) => count(row[E.records])],
  ["first packet", startOf, (row) => isAbsent(startOf(row)) ? NONE : time(startOf(row)).slice(durationOf(report.total.row) < DAY_MS ? 11 : 0)]];

// A table whose columns sort it, the largest first, then the smallest; the select does the same where there is no header.
function sortable(id, label, name, entries, cell) {
  const columns = COLUMNS.filter(([column, value]) => entries.some((each) => !isAbsent(value(each.row))) &&
    (column !== "measured" || entries.some((each) => each.row[E.measured] !== each.row[E.packets])));
  const select = byId(id + "-sort");
  select.append(...[["as listed", -1], ...columns.map((each, i) => [each[0], i])].map(([text, i]) => { const made = element("option", text); made.value = i; return made; }));
  const order = {column: -1, sign: -1};
  const draw = () => {
    const value = order.column < 0 ? undefined : columns[order.column][1];
    const sorted = value === undefined ? entries : [...entries].sort((one, other) =>
      isAbsent(value(one.row)) || isAbsent(value(other.row)) ? isAbsent(value(one.row)) - isAbsent(value(other.row)) : order.sign * (value(one.row) - value(other.row)));
    const box = table(label, [name, ...columns.map((each) => each[0])], sorted.map((each) => [cell(each), ...columns.map((column) => column[2](each.row))]), "stack");
    box.querySelectorAll("thead th").forEach((head, i) => {
      if (i === 0) { return; }
      const button = element("button", columns[i - 1][0]);
      button.type = "button";
      button.setAttribute("data-key", "sort " + i);
      button.addEventListener("click", () => { order.sign = order.column === i - 1 ? -order.sign : -1; order.column = i - 1; select.value = i - 1; draw(); });
      head.replaceChildren(button);
      if (order.column === i - 1) { head.setAttribute("aria-sort", order.sign < 0 ? "descending" : "ascending"); }
    });
    put(id, entries.length === 0 ? nothing("None.") : box);
  };
  select.addEventListener("change", () => { order.column = Number(select.value); order.sign = -1; draw(); });
  draw();
}

function tile(name, value) {
  const made = element("div");
  made.append(element("dt", name), element("dd", value));
  return made;
}
function showTotals() {
  // Of the time with packets: steps without any are left out.
  const row = report.total.row, {loss} = report, pauses = steps.step_seconds * steps.times.filter((each, i) => steps.classes.every((one) => isAbsent(valueAt(one, "packets", i)))).length;
  const seconds = report.has_rates ? durationOf(row) / 1000 - pauses : undefined, paused = report.has_rates && pauses > 0 ? ", pauses apart" : "";
  const rate = (value) => !report.has_rates ? "– (times too far apart)" : isAbsent(value) || !(seconds > 0) ? NONE : countShort(value / seconds);
  const known = isAbsent(loss) || loss.records === loss.of_records ? "" : ", known in " + count(loss.records) + " of " + count(loss.of_records) + " records";
  const most = isAbsent(loss) || loss.is_exact ? "" : "at most ";
  put("totals", tile("packets", count(row[E.packets])), tile("octets", count(row[E.octets])), tile("flows", count(report.flow_count)),
    tile("packets a second" + paused, rate(row[E.packets])), tile("bits a second" + paused, rate(isAbsent(row[E.octets]) ? undefined : 8 * row[E.octets])),
    tile("mean delay" + (isAbsent(row[E.bound]) ? "" : " ± " + report.bound_is), isAbsent(row[E.bound]) ? duration(row[E.mean]) : bounded(row[E.mean], row[E.bound])), tile("deviation", duration(row[E.sd])), tile("largest", duration(row[E.max])),
    tile("packets measured", count(row[E.measured])), tile("lost" + known, isAbsent(loss) ? NONE : most + count(loss.lost)),
    tile("loss" + known, isAbsent(loss) || loss.lost + loss.packets === 0 ? NONE : most + percent(loss.lost / (loss.lost + loss.packets))));
}

// When a flow was slow: about its slowest record, as long as means are at least half of that one's.
function slowTime({mean_ns: means, start_ms: starts, duration_ms: lasts, packets}) {
  const slowest = means.reduce((best, mean, i) => isAbsent(mean) || best >= 0 && mean <= means[best] ? best : i, -1);
  if (slowest < 0 || means[slowest] <= 0) { return undefined; }
  let from = slowest, to = slowest;
  while (from > 0 && means[from - 1] >= means[slowest] / 2) { from--; }
  while (to + 1 < means.length && means[to + 1] >= means[slowest] / 2) { to++; }
  return {mean: means[slowest], packets: packets[slowest], from: starts[from], to: starts[to] + (lasts[to] || 0)};
}
function showWorst() {
  const flows = report.flows.map((each, i) => ({...each, i, slow: slowTime(each.history)}));
  const name = (each) => link("#flow-" + each.i, each.label, "worst " + each.i), short = (ms) => time(ms).slice(durationOf(report.total.row) < DAY_MS ? 11 : 0);
  const slow = flows.filter((each) => each.slow !== undefined).sort((one, other) => other.slow.mean - one.slow.mean).slice(0, WORST);
  const lossy = flows.filter((each) => each.row[E.lost] > 0).sort((one, other) => other.row[E.lost] - one.row[E.lost]).slice(0, WORST);
  byId("worst").hidden = report.flows.length < 2 || slow.length + lossy.length === 0;
  put("worst-slow", slow.length === 0 ? nothing("No delay is known.") : table("When flows were slowest", ["flow", "from", "to", "slowest mean", "of packets", "mean of all"],
    slow.map((each) => [name(each), short(each.slow.from), short(each.slow.to), duration(each.slow.mean), count(each.slow.packets), duration(each.row[E.mean])]), "stack"));
  put("worst-lost", lossy.length === 0 ? nothing(report.loss && report.loss.is_exact ? "None of these lost any." : "No loss is known.") : table("When flows lost most", ["flow", "from", "to", "lost", "loss"], lossy.map((each) => {
    const records = each.history.lost.map((lost, i) => lost > 0 ? i : -1).filter((i) => i >= 0), last = records[records.length - 1];
    return [name(each), records.length === 0 ? NONE : short(each.history.start_ms[records[0]]), records.length === 0 ? NONE :
      short(each.history.start_ms[last] + (each.history.duration_ms[last] || 0)), lossOf(each.row), percent(shareOf(each.row))];
  }), "stack"));
}
// The captures begin and end within a step, whose rate is of that part; of less than half of a step it would say little.
function rateSeconds() {
  const from = startOf(report.total.row), to = from + durationOf(report.total.row), length = 1000 * steps.step_seconds;
  return isAbsent(from) || isNaN(to) || steps.times.length < 3 ? undefined : steps.times.map((each) => {
    const part = Math.min(to, Date.parse(each) + length) - Math.max(from, Date.parse(each));
    return part < length / 2 ? null : part / 1000;
  });
}

// A bar is one or more whole buckets of the data. Where delays are of one magnitude the axis is linear, and a bar's area is its packets.
function showHistogram() {
  const {counts} = report.histogram, edges = [...report.histogram.edges], least = report.total.row[E.min], most = report.total.row[E.max];
  const bars = counts.length;
  // The outer buckets reach a little beyond what was measured.
  if (!isAbsent(least) && !isAbsent(most) && least < most && least < edges[1] && most > edges[bars - 1]) {
    edges[0] = Math.max(edges[0], least);
    edges[bars] = Math.min(edges[bars], most);
  }
  const low = edges[0], high = edges[bars], isLinear = low > 0 && high / low <= 20;
  const at = (i) => isLinear ? (edges[i] - low) / (high - low) : i / bars;
  const heights = counts.map((value, i) => value / bars / (at(i + 1) - at(i)));
  const width = Math.max(260, byId("histogram").clientWidth), height = 220, left = 60, bottom = 24, top = 10;
  const highest = Math.max(...heights), all = counts.reduce((sum, each) => sum + each, 0), wide = width - left - 8;
  const svg = drawn("svg", {class: "histogram", viewBox: "0 0 " + width + " " + height, role: "img",
    "aria-label": "Number of packets by delay, " + duration(low) + " to " + duration(high) + (isLinear ? "" : ", logarithmic")});
  const y = (value) => height - bottom - value / highest * (height - bottom - top);
  for (const share of [0, 0.5, 1]) {
    svg.append(drawn("line", {x1: left, x2: width, y1: y(share * highest), y2: y(share * highest)}),
      drawn("text", {x: left - 6, y: y(share * highest) + 4, "text-anchor": "end"}, countShort(share * highest)));
  }
  counts.forEach((value, i) => {
    const bar = drawn("rect", {x: left + at(i) * wide, width: Math.max(1, (at(i + 1) - at(i)) * wide - 1), y: y(heights[i]), height: height - bottom - y(heights[i])});
    bar.append(drawn("title", {}, duration(edges[i]) + " to " + duration(edges[i + 1]) + ": " + count(value) + ", " + percent(value / all)));
    svg.append(bar);
  });
  const marks = Math.min(bars, width < 500 ? 2 : 5);
  for (let i = 0; i <= marks; i++) {
    const edge = Math.round(i / marks * bars);
    const [share, value] = isLinear ? [i / marks, low + (high - low) * i / marks] : [at(edge), edges[edge]];
    svg.append(drawn("text", {x: left + wide * share, y: height - 6, "text-anchor": i === 0 ? "start" : i === marks ? "end" : "middle"}, duration(value)));
  }
  byId("distribution-name").textContent = report.histogram.is_of_packets ? "Delays of packets" : "Mean delays of records, by their packets";
  const {p50_ns: half, p99_ns: most99} = report.histogram;
  put("histogram", svg, ...(isAbsent(half) ? [] : [element("p", "Half of the packets took at most about " + duration(half) + (isAbsent(most99) ? "" : ", 99 % about " + duration(most99)) + ".", "faint")]));
}

function showFlow(index) {
  shownFlow = report.flows[index];
  byId("flow").hidden = shownFlow === undefined;
  document.querySelectorAll("#flows tr").forEach((each) => each.classList.toggle("shown", each.querySelector("[data-key='flow " + index + "']") !== null));
  if (shownFlow === undefined) { return; }
  const past = shownFlow.history, row = shownFlow.row;
  byId("flow-name").textContent = "Flow " + shownFlow.label;
  byId("flow-said").textContent = "Mean " + bounded(row[E.mean], row[E.bound]) + ", largest " + duration(row[E.max]) + ", lost " + lossOf(row) + " of " +
    count(row[E.packets]) + " received, " + time(startOf(row)) + " to " + time(startOf(row) + durationOf(row)) + " UTC." + (past.is_whole ? "" : " Not all of its records are kept.");
  drawFlow();
}
function drawFlow() {
  const past = shownFlow.history, seconds = past.start_ms.map((each) => each / 1000);
  const last = past.start_ms.length - 1;
  const range = () => [seconds[0], Math.max(seconds[0] + 1, seconds[last] + (past.duration_ms[last] || 0) / 1000)];
  const draw = (id, label, height, format, series) => {
    const known = series.filter((each) => each.values.some((value) => !isAbsent(value)));
    byId(id).parentElement.hidden = known.length === 0;
    if (known.length === 0) { unplot(id); return; }
    plot(id, {label, height, format, range, times: "record from"}, known.map(({values, ...each}) => each), [seconds, ...known.map((each) => each.values)]);
  };
  const aSecond = (values, factor) => values.map((value, i) => isAbsent(value) ? null : value * factor / Math.max(1, (past.duration_ms[i] || 0) / 1000));
  const edge = (sign) => past.mean_ns.map((mean, i) => isAbsent(mean) || isAbsent(past.bound_ns[i]) ? null : mean + sign * past.bound_ns[i]);
  const stroke = colour("--c0"), quiet = {stroke, points: {show: false}};
  draw("flow-delay", "Delay of the flow over time", 220, duration, [{label: "mean", stroke, values: past.mean_ns},
    {...quiet, label: "mean + bound", width: 0.5, values: edge(1)}, {...quiet, label: "mean − bound", width: 0.5, values: edge(-1)},
    {...quiet, label: "99 %", dash: [6, 4], values: past.p99_ns}, {...quiet, label: "largest", dash: [2, 3], values: past.max_ns}]);
  draw("flow-loss", "Lost packets of the flow over time", 160, countShort, [{label: "lost", stroke, values: past.lost}]);
  draw("flow-rate", "Packets a second of the flow over time", 160, countShort, [{label: "packets a second", stroke, values: aSecond(past.packets, 1)}]);
  draw("flow-bits", "Bits a second of the flow over time", 160, countShort, [{label: "bits a second", stroke, values: aSecond(past.octets, 8)}]);
  const rows = seconds.map((each, i) => [time(past.start_ms[i]) + "." + String(past.start_ms[i] % 1000).padStart(3, "0"), span1000(past.duration_ms[i]), count(past.packets[i]),
    count(past.octets[i]), bounded(past.mean_ns[i], past.bound_ns[i]), duration(past.p99_ns[i]), duration(past.max_ns[i]), count(past.lost[i])]);
  put("flow-past", rows.length === 0 ? nothing("None is kept.") : table("Records of the flow",
    ["from", "for", "packets", "octets", "mean", "99 %", "largest", "lost"], rows, "stack"));
}
function span1000(ms) { return isAbsent(ms) ? NONE : duration(ms * 1e6); }

function drawAll() {
  if (steps.times.length > 0) { drawClasses(steps, chosenClass); }
  if (report.histogram) { showHistogram(); }
  if (shownFlow !== undefined) { drawFlow(); }
}
function follow() {
  const found = /^#flow-([0-9]+)$/.exec(location.hash);
  if (!found) { return; }
  showFlow(Number(found[1]));
  if (shownFlow !== undefined) { byId("flow-name").focus(); byId("flow").scrollIntoView(); }
}

function show() {
  const row = report.total.row;
  document.title = report.title + ", " + report.inputs.flatMap((each) => each[1]).join(", ");
  byId("title").textContent = report.title;
  byId("when").textContent = report.inputs.map(([name, files]) => name + " " + files.join(", ")).join(" → ") +
    (row._start === undefined ? "" : "; " + time(startOf(row)) + " to " + time(Date.parse(row._end)) + " UTC");
  byId("made").textContent = "Made by flowlag report, " + report.made + ". Times are UTC. The file has " + report.bounds + ".";
  showTotals();
  showWorst();
  steps.rate_seconds = rateSeconds();
  put("quality", ...report.quality.map((each) => element("li", each)));
  byId("classes").hidden = steps.times.length === 0;
  byId("distribution").hidden = !report.histogram;
  const classes = steps.classes.map((each) => [each.name, each.name]);
  byId("class-bar").hidden = classes.length < 2;
  choices("class-bar", classes.length < 2 ? [] : [...classes, ["all of them", ""]], chosenClass, (name) => { chosenClass = name; drawAll(); });
  sortable("flows", "Flows", "flow", report.flows.map((each, i) => ({...each, i})), (each) => link("#flow-" + each.i, each.label, "flow " + each.i));
  byId("flows-said").textContent = count(report.flows.length) + " of " + count(report.flow_count) + ", listed by " + report.order;
  byId("groups-name").textContent = "Groups by " + report.grouped_by;
  sortable("groups", "Groups", "group", report.groups, (each) => each.label);
  byId("said").hidden = report.said.length === 0 && report.printed === "";
  put("messages", ...report.said.map((each) => element("li", each)));
  put("printed", ...report.printed.split("\n\n").map((each) => element("pre", each, /\S {2,}\S/.test(each) ? "" : "wrap")));
  drawAll();
  follow();
  document.body.dataset.shown = "report";
}
addEventListener("hashchange", follow);
addEventListener("resize", drawAll);
for (const query of ["(prefers-color-scheme: dark)", "print"]) { matchMedia(query).addEventListener("change", drawAll); }
show();

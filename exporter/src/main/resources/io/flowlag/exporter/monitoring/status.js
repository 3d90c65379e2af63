"use strict";
const POLL_MS = 2000;
const PAGES = {classes: showClasses, flows: showFlows, flow: showFlow, process: showProcess};
const METERED = "all packets metered";
const data = {};
let stepSeconds = 10;
let whichClass = "";

function page() { const name = location.hash.slice(1).split("/")[0]; return name in PAGES ? name : "classes"; }
function chosenFlow() { return decodeURIComponent(location.hash.slice("#flow/".length)); }
function delays() { const stats = data.status.statistics; return stats.segments || (stats.delay ? [stats.delay] : []); }
function say(id, lines) { const box = element("div", undefined, "say"); box.append(...lines.map((each) => element("p", each))); put(id, box); }
function tiles(id, values) {
  const list = element("dl", undefined, "tiles");
  for (const [name, value] of values) {
    const box = list.appendChild(element("div"));
    box.append(element("dt", name), element("dd", value));
  }
  put(id, list);
}
function meanOf(row) { return isAbsent(row.mean_ns) ? NONE : bounded(row.mean_ns, row.bound_ns); }
function lostOf(row) { return isAbsent(row.lost) ? NONE : {"": "", "<=": "at most ", ">=": "at least "}[row.lost_mark] + count(row.lost); }
function share(part, all) { return all > 0 ? percent(part / all) : NONE; }

// Steps: of the length that is shown; the newest that is over.
function shownSteps() { return data.history.steps.find((each) => each.step_seconds === stepSeconds); }
function classesOf(step) {
  return step.classes.filter((each) => ["packets", "delay_mean_ns", "lost"].some((name) => isKnown(each, name)))
    .sort((one, other) => (one.name === METERED) - (other.name === METERED));
}
function newestOf(step) { return step.times.length - 2; }

// The segment.
function segmentsOf() { const {segment, segments} = data.status; return segment ? segment.segments || [segment] : segments || []; }
function endsOf(segment, role) {
  if (segment.ingress) { return [[segment.ingress], [segment.egress]]; }
  const points = segment.points || [];
  return role === "sender" ? [points, null] : role === "receiver" ? [null, points] : [points.slice(0, 1), points.slice(1)];
}
function endBox(svg, x, width, title, points) {
  svg.appendChild(drawn("rect", {x, y: 18, width, height: 56, rx: 8, class: points ? "" : "elsewhere"}));
  const middle = {"text-anchor": "middle", x: x + width / 2};
  svg.appendChild(drawn("text", {...middle, y: 12, class: "small"}, title));
  const name = points ? points.join(", ") : "another host";
  const most = Math.floor((width - 10) / 7.6);
  svg.appendChild(drawn("text", {...middle, y: 50, class: "name"}, name.length > most ? "…" + name.slice(1 - most) : name));
}
function drawSegment(segment, role, delayText, lossText, width) {
  const [from, to] = endsOf(segment, role);
  const name = "segment " + (segment.segment_id === undefined ? segment.id : segment.segment_id);
  const ends = [from, to].map((each) => each ? each.join(", ") : "another host");
  const svg = drawn("svg", {viewBox: "0 0 " + width + " 92", class: "drawing", role: "img",
    "aria-label": name + ": from " + ends[0] + " to " + ends[1] + ", mean delay " + delayText + ", lost " + lossText});
  const box = Math.min(170, Math.floor(width * 0.27)), end = width - box - 2, middle = {"text-anchor": "middle", x: width / 2};
  endBox(svg, 2, box, "sender point", from);
  endBox(svg, end, box, "receiver point", to);
  svg.appendChild(drawn("line", {x1: box + 6, y1: 46, x2: end - 6, y2: 46}));
  svg.appendChild(drawn("path", {d: "M" + (end - 14) + " 40 L" + (end - 6) + " 46 L" + (end - 14) + " 52"}));
  svg.appendChild(drawn("text", {...middle, y: 12, class: "small"}, name));
  svg.appendChild(drawn("text", {...middle, y: 36, class: "name"}, delayText));
  svg.appendChild(drawn("text", {...middle, y: 64, class: "small"}, lossText === NONE ? "loss is not known" : lossText + " lost"));
  return svg;
}
// Of all classes together: counted so, or the sum of theirs.
function lossOf(classes, i) {
  const together = classes.filter((each) => each.name.endsWith("all classes")), all = together.length > 0 ? together : classes;
  const counts = all.map((each) => [valueAt(each, "lost", i), valueAt(each, "lost_bound", i)]);
  const isExact = counts.every(([lost]) => !isAbsent(lost));
  return counts.length === 0 || counts.some(([lost, most]) => isAbsent(lost) && isAbsent(most)) ? NONE :
    (isExact ? "" : "at most ") + count(counts.reduce((sum, [lost, most]) => sum + (isAbsent(lost) ? most : lost), 0));
}
function showSegments(step) {
  const {segment, segments} = data.status;
  const all = segmentsOf();
  if (all.length === 0) { put("segments", nothing("No delay is measured: there is no segment.")); return; }
  const width = Math.max(300, Math.min(900, byId("segments").clientWidth)), i = newestOf(step);
  put("segments", ...all.map((each) => {
    const ofIt = classesOf(step).filter((one) => one.name !== METERED && (all.length === 1 ||
      one.name.startsWith(each.id === undefined ? "segment " + each.segment_id + "," : each.id + " " + each.ingress + " ")));
    const slowest = ofIt.filter((one) => i >= 0 && !isAbsent(valueAt(one, "delay_mean_ns", i)))
      .sort((one, other) => valueAt(other, "delay_mean_ns", i) - valueAt(one, "delay_mean_ns", i))[0];
    return drawSegment(each, segment ? segment.role : each.role, slowest ? bounded(valueAt(slowest, "delay_mean_ns", i), valueAt(slowest, "delay_bound_ns", i)) : NONE,
      i < 0 ? NONE : lossOf(ofIt, i), width);
  }), element("p", (segment ? "This process is " + ({both: "at both points", sender: "at the sender point", receiver: "at the receiver point"}[segment.role] || segment.role) +
    "." : segments.length + " segments.") + " The drawing has the slowest class of the newest complete step.", "faint"));
}

// Bars: [from, to, share], of one area where the widths differ.
function bars(label, parts, width) {
  const height = 150, bottom = 22, low = Math.min(...parts.map((each) => each[0])), high = Math.max(...parts.map((each) => each[1]));
  const densities = parts.map(([from, to, part]) => part / Math.max(to - from, (high - low) / 1000));
  const most = Math.max(...densities), x = (ns) => 4 + (ns - low) / Math.max(1, high - low) * (width - 8);
  const svg = drawn("svg", {viewBox: "0 0 " + width + " " + height, class: "bars", role: "img", "aria-label": label});
  parts.forEach(([from, to, part], i) => {
    const tall = (height - bottom - 6) * densities[i] / most;
    const bar = svg.appendChild(drawn("rect", {x: x(from), y: height - bottom - tall, width: Math.max(1, x(to) - x(from) - 1), height: tall}));
    bar.appendChild(drawn("title", {}, percent(part) + " from " + duration(from) + " to " + duration(to)));
  });
  svg.appendChild(drawn("line", {x1: 0, x2: width, y1: height - bottom, y2: height - bottom}));
  [[low, "start"], [(low + high) / 2, "middle"], [high, "end"]].forEach(([ns, anchor]) =>
    svg.appendChild(drawn("text", {x: x(ns), y: height - 6, "text-anchor": anchor}, duration(ns))));
  return svg;
}
// Since the start, in the buckets that have delays; the first has those up to 0, the last those above all boundaries.
function bucketRows(histogram) {
  const boundaries = data.status.histogram_boundaries_ns, {counts_at_most: counts, count: all} = histogram.estimates;
  const rows = boundaries.map((to, i) => [i === 0 ? undefined : boundaries[i - 1], to, counts[i] - (i === 0 ? 0 : counts[i - 1])]);
  rows.push([boundaries[boundaries.length - 1], undefined, all - counts[counts.length - 1]]);
  return rows.filter((each) => each[2] > 0);
}
function showDistributions() {
  const known = data.status.histograms.filter((each) => each.estimates.count > 0).slice(0, 16);
  put("class-distributions", ...known.map((each) => {
    const card = element("div", undefined, "card"), all = each.estimates.count, rows = bucketRows(each);
    const most = Math.max(...rows.map((row) => row[2]));
    card.append(element("h3", "Delays since the start: " + each.name), table("Distribution of " + each.name, ["delay", "packets", "share", "bar"], rows.map(([from, to, packets]) => {
      const bar = drawn("svg", {viewBox: "0 0 100 10", preserveAspectRatio: "none", class: "bar-of", "aria-hidden": "true"});
      bar.appendChild(drawn("rect", {width: 100 * packets / most, height: 10}));
      return [from === undefined ? "up to 0" : to === undefined ? "above " + duration(from) : "to " + duration(to), count(packets), percent(packets / all), bar];
    }), "buckets"));
    return card;
  }));
}
function showClasses() {
  const step = shownSteps();
  const classes = step === undefined ? [] : classesOf(step);
  const names = classes.map((each) => each.name);
  if (byId("which").dataset.all !== names.join("|")) {
    byId("which").dataset.all = names.join("|");
    whichClass = names.includes(whichClass) ? whichClass : "";
    put("which", ...["", ...names].map((name) => { const made = element("option", name || "all"); made.value = name; return made; }));
    byId("which").value = whichClass;
  }
  if (step === undefined) { put("segments", nothing("No history is kept.")); return; }
  showSegments(step);
  const i = newestOf(step);
  byId("newest-time").textContent = i < 0 ? "" : time(Date.parse(step.times[i])) + ", " + step.step_seconds + " s";
  put("newest", i < 0 ? nothing("The first step is not over yet.") : table("Table of classes",
    ["class", "mean delay", "50 %", "99 %", "largest", "packets a second", "lost", "utilization"], classes.map((each) => [
      each.name, bounded(valueAt(each, "delay_mean_ns", i), valueAt(each, "delay_bound_ns", i)), duration(valueAt(each, "delay_p50_ns", i)),
      duration(valueAt(each, "delay_p99_ns", i)), duration(valueAt(each, "delay_max_ns", i)),
      isAbsent(valueAt(each, "packets", i)) ? NONE : count(Math.round(each.packets[i] / step.step_seconds * 10) / 10), lossAt(each, i),
      isAbsent(valueAt(each, "utilization_ppm", i)) ? NONE : percent(each.utilization_ppm[i] / 1e6)]), "stack"));
  drawClasses({...step, classes}, whichClass);
  showDistributions();
}

// Flows.
function flowLink(row) { return link("#flow/" + encodeURIComponent(row.name), row.name, row.name); }
function rowTable(label, first, rows, name) {
  return rows.length === 0 ? nothing("No flow is listed yet.") : table(label,
    [first, "mean delay", "smallest", "99 %", "largest", "lost", "packets", "records", "state"], rows.map((row) => [
      name(row), meanOf(row), duration(row.min_ns), duration(row.p99_ns), duration(row.max_ns), lostOf(row), count(row.packets), count(row.records),
      row.living ? "living" : "ended"]), "stack");
}
function showFlows() {
  const {groups, living_flows, ended_flows} = data.status;
  byId("flows-count").textContent = count(living_flows) + " living, " + count(ended_flows) + " ended in a minute";
  put("slowest", rowTable("Table of flows", "flow", groups.flow, flowLink));
  const recent = data.history.recent_flows;
  put("recent", recent.length === 0 ? nothing("There are none.") : table("Table of recent flows", ["flow"], recent.map((name) => [flowLink({name})])));
  showWorst();
  put("groups", rowTable("Table of groups", "group", groups[byId("grouping").value], (row) => row.name));
}
function showWorst() {
  const of = byId("worst-of").value, rows = data.status.worst_of_hour[of] || [], name = of === "flow" ? flowLink : (row) => row.name;
  const when = (row) => [row.start_ns, row.end_ns].map((ns) => time(ns / 1e6).slice(11));
  const slow = rows.filter((row) => !isAbsent(row.mean_ns)), lossy = rows.filter((row) => !isAbsent(row.lost));
  put("worst-slow", slow.length === 0 ? nothing("Nothing was slow, as far as delays are known.") : table("Table of the slow times of the hour", [of === "flow" ? "flow" : "group", "from", "to", "mean delay", "worst", "usual", "measured"],
    slow.map((row) => [name(row), ...when(row), duration(row.mean_ns), duration(row.worst_ns), duration(row.usual_ns), count(row.measured)]), "stack"));
  put("worst-lost", lossy.length === 0 ? nothing("No loss became known.") : table("Table of the largest losses of the hour", [of === "flow" ? "flow" : "group", "from", "to", "lost"],
    lossy.map((row) => [name(row), ...when(row), lostOf(row)]), "stack"));
}
function quantileParts(row) {
  const known = [[row.min_ns, 0], [row.p50_ns, 0.5], [row.p90_ns, 0.9], [row.p99_ns, 0.99], [row.max_ns, 1]].filter((each) => !isAbsent(each[0]));
  return known.slice(1).map(([ns, part], i) => [known[i][0], Math.max(ns, known[i][0]), part - known[i][1]]);
}
function showFlow() {
  const name = chosenFlow(), row = data.status.groups.flow.find((each) => each.name === name);
  byId("flow-name").textContent = name || "Flow";
  if (row) { showRow(row); } else {
    put("flow-values", nothing("It is not among the slowest flows now."));
    put("flow-distribution", nothing(NONE));
  }
  showPast(name);
}
function showRow(row) {
  tiles("flow-values", [["mean delay", meanOf(row)], ["by references", duration(row.interpolated_mean_ns)], ["by sketches", duration(row.sketch_mean_ns)],
    ["smallest", duration(row.min_ns)], ["50 %", duration(row.p50_ns)], ["90 %", duration(row.p90_ns)], ["99 %", duration(row.p99_ns)],
    ["largest", duration(row.max_ns)], ["standard deviation", duration(row.sd_ns)], ["lost packets", lostOf(row)],
    ["share lost", isAbsent(row.lost) ? NONE : {"": "", "<=": "at most ", ">=": "at least "}[row.lost_mark] + share(row.lost, row.packets + row.lost)],
    ["packets", count(row.packets)], ["packets with a delay", count(row.measured)], ["octets", count(row.octets)],
    ["since", time(row.start_ns / 1e6)], ["newest packet", time(row.end_ns / 1e6)], ["state", row.living ? "living" : "ended"]]);
  const record = row.newest_record, parts = record === null ? [] : quantileParts(record);
  put("flow-distribution", ...(parts.length < 2 ? [nothing("Quantiles are known when a record of enough packets ends.")] : [
    bars("Distribution of delays: " + parts.map(([from, to, part]) => percent(part) + " from " + duration(from) + " to " + duration(to)).join(", "), parts,
      Math.max(280, Math.min(900, byId("flow-distribution").clientWidth))),
    element("p", "Of the record until " + time(record.end_ns / 1e6) + " with " + count(record.measured) +
      " delays. The area of a bar is its share of the packets; the bars end at the quantiles that the record has.", "faint")]));
}
function showPast(name) {
  const own = data.history.flows.find((each) => each.name === name);
  if (!own || own.times.length === 0) {
    for (const id of ["flow-delay-plot", "flow-rate-plot"]) { unplot(id); put(id, nothing("There are no two snapshots of it in the last minutes.")); }
    put("flow-past", nothing(NONE));
    return;
  }
  const seconds = own.times.map((each) => Date.parse(each) / 1000), range = () => [Math.min(seconds[0], seconds[seconds.length - 1] - 60), seconds[seconds.length - 1]];
  const one = (id, label, format, values, height) => plot(id, {label, height, format, range, times: "until"}, [{label, stroke: colour("--c0")}], [seconds, values]);
  one("flow-delay-plot", "mean delay", duration, own.delay_mean_ns, 240);
  one("flow-rate-plot", "packets a second", countShort, own.packets_per_second, 160);
  put("flow-past", table("Table of the flow's history", ["until", "packets a second", "mean delay", "lost"], own.times.map((each, i) => [time(Date.parse(each)),
    isAbsent(own.packets_per_second[i]) ? NONE : count(Math.round(own.packets_per_second[i] * 10) / 10), duration(own.delay_mean_ns[i]), isAbsent(own.lost_since[i]) ? NONE : count(own.lost[i]) + " since " + time(Date.parse(own.lost_since[i]))]).reverse(), "stack"));
}

// The process, in words.
function clockLines(delay, of) {
  const lines = [];
  for (const key of Object.keys(delay.gauges).filter((each) => each.startsWith("clock_offset_ns"))) {
    const end = key.slice("clock_offset_ns".length), ns = delay.gauges[key], drift = delay.gauges["clock_offset_drift_ppb" + end];
    lines.push(of + "The clock of this host is " + duration(Math.abs(ns)) + (ns < 0 ? " behind" : " ahead of") + " that of the sender" + end.replaceAll("_", " ") +
      ", ±" + NEAR + duration(delay.gauges["clock_offset_error_ns" + end]) +
      (isAbsent(drift) ? "." : ", and " + (drift < 0 ? "loses " : "gains ") + duration(Math.abs(drift)) + " a second."));
  }
  lines.push(of + (isAbsent(delay.clock_error_ns) ? "How far the clocks of the two points are apart is not known: a delay may be wrong by as much." :
    "The clocks of the two points differ by at most " + duration(delay.clock_error_ns) + ", and so may each delay be wrong by as much."));
  return lines;
}
function exchangeLines(delay, of) {
  const {exchange_sessions: begun, exchange_sessions_ended: ended} = delay.counters;
  if (begun === undefined) { return []; }
  const check = data.status.checks.find((each) => each.name === "exchange");
  const refused = Object.entries(delay.counters).filter(([name]) => name.startsWith("exchange_refused_")).reduce((sum, each) => sum + each[1], 0);
  return [of + (check ? "State: " + check.text + "." : ""), of + count(begun) + " sessions have begun, " + count(ended) + " of them have ended.",
    of + (refused === 0 ? "No message of the other point was refused." : count(refused) + " messages or connections were refused.")];
}
function reconcileLines(delay, of) {
  const counters = delay.counters, all = counters.reconcile_intervals;
  if (all === undefined) { return []; }
  const lines = [of + "The lists of both points were compared for " + count(all) + " intervals: " + [["complete", "all lost packets found in "], ["incomplete", "a part found in "],
    ["unanswered", "no answer in time in "], ["refused", "refused in "]].filter((each) => counters["reconcile_" + each[0]] > 0)
    .map((each) => each[1] + count(counters["reconcile_" + each[0]])).join(", ") + "."];
  for (const each of (delay.sketches || []).filter((one) => one.reconcile)) {
    for (const one of each.reconcile.interval) {
      lines.push(of + "Last interval" + (delay.sketches.length > 1 ? ", sender " + each.sender : "") + (one.dscp === undefined ? "" : ", dscp " + one.dscp) + ": " + each.reconcile.status +
        ", " + count(one.samples) + " packets, mean " + duration(one.mean_ns) + ", " + (isAbsent(one.lost) ? "loss not known" : count(one.lost) + " lost") + ".");
    }
  }
  return lines;
}
function referenceLines(delay, of) {
  const {rli_references: seen, rli_references_lost: lost, lds_rli_flows: both, lds_rli_agreed: agreed} = delay.counters, share = delay.gauges.reference_share;
  return [isAbsent(seen) ? "" : of + count(seen) + " reference packets have arrived, " + count(lost) + " are missing.",
    isAbsent(share) ? "" : of + "They are " + percent(share) + " of the traffic.",
    both > 0 ? of + "In " + percent(agreed / both) + " of " + count(both) + " flows the means by references and by sketches agree." : ""].filter((each) => each);
}
function lossRows() {
  const {counters, sources} = data.status.statistics, rows = sources.map((each) => ["in the kernel, of " + each.name + (each.damage === undefined ? "" :
    " (" + each.damage + ")"), each.lost_in_kernel]).concat([["at the packet ring", counters.dropped_at_packet_ring], ["records at the record ring", counters.dropped_at_record_ring],
    ["refused by the decoder", counters.refused]]);
  for (const delay of delays()) {
    const of = delays().length === 1 ? "" : "segment " + delay.segment_id + ": ";
    for (const sketches of delay.sketches || []) {
      for (const each of sketches.interval || []) {
        rows.push([of + "between the points, last interval" + (delay.sketches.length === 1 ? "" : ", sender " + sketches.sender) +
          (each.dscp === undefined ? "" : ", dscp " + each.dscp), each.lost]);
      }
    }
    for (const [name, text] of [["match_lost", "between the points, matched"], ["match_not_of_segment", "not of the segment: never seen leaving"],
      ["rli_references_lost", "references between the points"]]) {
      if (delay.counters[name] !== undefined) { rows.push([of + text, delay.counters[name]]); }
    }
  }
  return rows;
}
function showProcess() {
  const {statistics: stats, checks, errors} = data.status, {counters} = stats, dropped = counters.lost_in_kernel + counters.dropped_at_packet_ring;
  const values = [["captured", count(counters.captured)], ["lost before measurement", count(dropped) + " (" + share(dropped, counters.captured) + ")"],
    ["metered", count(counters.metered)], ["flow records made", count(counters.records_made)], ["memory bound", countShort(stats.memory_bound_bytes) + "B"],
    ["of that the history", data.history.memory_bound_bytes === undefined ? NONE : countShort(data.history.memory_bound_bytes) + "B"]].concat(
    (stats.memory || []).map((each) => ["memory: " + each.name, (isAbsent(each.used_bytes) ? "" : countShort(each.used_bytes) + "B of ") + countShort(each.bound_bytes) + "B"]),
    [["series_left_out", "classes and clocks without history"], ["snapshots_left_out", "snapshots missing in the history"]]
      .filter((each) => data.history[each[0]] > 0).map((each) => [each[1], count(data.history[each[0]])]));
  tiles("packets", values.concat(delays().length !== 1 || delays()[0].counters.match_matched === undefined ? [] : [
    ["matched at both points", count(delays()[0].counters.match_matched)],
    ["lost of those sent", share(delays()[0].counters.match_lost, delays()[0].counters.match_matched + delays()[0].counters.match_lost)]]));
  for (const [id, lines, absent] of [["clocks", clockLines, "No delay is measured, so no clocks are compared."],
    ["exchange", exchangeLines, "There is no exchange: both points are in this process, or nothing is sent."],
    ["reconciliation", reconcileLines, "Packets are not reconciled."], ["references", referenceLines, "There are no reference packets."]]) {
    const all = delays().flatMap((each) => lines(each, delays().length === 1 ? "" : "Segment " + each.segment_id + ": "));
    if (all.length === 0) { put(id, nothing(absent)); } else { say(id, all); }
  }
  const step = shownSteps(), clocks = step === undefined ? [] : step.classes.filter((each) => isKnown(each, "clock_offset_ns"));
  const stroke = (i) => colour("--c" + i % COLOURS);
  byId("clock-plot").parentElement.hidden = clocks.length === 0;
  if (step !== undefined) {
    curves(step, "clock-plot", {label: "Clock offsets over time with their largest errors", height: 180, format: duration}, clocks.flatMap((each, i) => {
      const edge = (sign) => each.clock_offset_ns.map((ns, at) => isAbsent(ns) ? null : ns + sign * each.clock_error_ns[at]), quiet = {stroke: stroke(i), width: 0.5, class: "edge", points: {show: false}};
      return [{label: each.name, stroke: stroke(i), values: each.clock_offset_ns, isLow: false}, {...quiet, label: each.name + " most", values: edge(1), isLow: false},
        {...quiet, label: each.name + " least", values: edge(-1), isLow: true}];
    }));
  }
  put("checks", table("Table of checks", ["check", "result"], checks.map((each) => [each.name, element("span", (each.ok ? "ok: " : "failing: ") + each.text, each.ok ? "" : "bad")])
    .concat(errors.map((each) => ["error, " + each.count + " times", each.kind])), "words"));
  put("lost", table("Table of losses", ["where", "packets"], lossRows().map((each) => [each[0], count(each[1])])));
  put("destinations", stats.destinations.length === 0 ? nothing("There are none.") : table("Table of destinations", ["to", "exported", "waiting", "failed", "on disk"],
    stats.destinations.map((each) => [each.uri, count(each.records_exported), count(each.records_waiting), count(each.records_failed),
      each.spool ? count(each.spool.records_held) + ", " + share(each.spool.octets_held, each.spool.octets_bound) + " full" : NONE]), "stack"));
}

function state(text, className) {
  if (byId("state").textContent !== text) { byId("state").textContent = text; }
  byId("state").className = "state " + className;
}
function head() {
  const {status, checks, host, version, pid, statistics} = data.status, failing = checks.filter((each) => !each.ok);
  state(status === "ok" ? "ok" : "failing", status === "ok" ? "good" : "bad");
  byId("about").textContent = host + ", version " + version + ", process " + pid + ", up " + span(statistics.now_ms - statistics.start_time_ms);
  byId("failing").hidden = failing.length === 0;
  const text = failing.map((each) => each.name + ": " + each.text).join("; ");
  if (byId("failing").textContent !== text) { byId("failing").textContent = text; }
}
function show() {
  const name = page();
  for (const each of Object.keys(PAGES)) { byId(each).hidden = each !== name; }
  for (const each of document.querySelectorAll("nav a")) {
    if (each.hash === "#" + (name === "flow" ? "flows" : name)) { each.setAttribute("aria-current", "page"); } else { each.removeAttribute("aria-current"); }
  }
  document.title = (data.status ? data.status.host + " · " : "") + "flowlag";
  if (data.status && data.history) {
    PAGES[name]();
    document.body.dataset.shown = name;
  }
}
async function load(path) {
  const answer = await fetch(path, {cache: "no-store"});
  if (!answer.ok) { throw new Error(await answer.text()); }
  return answer.json();
}
let turns = 0;
async function refresh() {
  const turn = ++turns;
  try {
    const [status, history] = await Promise.all([load("/status.json"),
      load("/history.json" + (page() === "flow" ? "?flow=" + encodeURIComponent(chosenFlow()) : ""))]);
    if (turn !== turns) { return; }
    data.status = status;
    data.history = {steps: [], flows: [], recent_flows: [], ...history};
    head();
    show();
  } catch (fault) {
    state("no answer: " + fault.message, "bad");
  }
}
// The history that is loaded has the slowest flows, or the one that was open.
function askForFlow() {
  if (page() === "flow" && data.history && !data.history.flows.some((each) => each.name === chosenFlow())) { refresh(); }
}
async function poll() {
  if (!document.hidden) { await refresh(); }
  setTimeout(poll, POLL_MS);
}
choices("ranges", [["1 h", 10], ["24 h", 60]], stepSeconds, (seconds) => { stepSeconds = seconds; show(); });
byId("which").addEventListener("change", (event) => { whichClass = event.target.value; show(); });
byId("grouping").addEventListener("change", show);
byId("worst-of").addEventListener("change", show);
addEventListener("hashchange", () => { show(); byId(page() + "-name").focus(); scrollTo(0, 0); askForFlow(); });
addEventListener("resize", show);
addEventListener("visibilitychange", refresh);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
show();
poll();

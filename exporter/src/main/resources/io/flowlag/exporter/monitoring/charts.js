"use strict";
// Draws {step_seconds, times: [ISO 8601, the start of each step], classes: [{name, packets: [], octets: [], delay_samples: [],
// delay_mean_ns: [], delay_bound_ns: [], delay_p50_ns: [], delay_p99_ns: [], delay_max_ns: [], lost: [], lost_bound: []}]}, as
// /history.json has it; with rate_seconds: [], null for none, rates are by these instead: an array or a value that is absent or null is not known; lost is exact, lost_bound the most that it can be.
// Needs common.js, plot.js, uPlot and elements with the ids delay-plot, rate-plot, bits-plot, loss-plot and past.
const COLOURS = 6;
const MOST_BANDS = 3; // classes; with more, bounds hide means
const TABLE_STEPS = 60;

function valueAt(each, name, i) { return each[name] === undefined ? null : each[name][i]; }
function isKnown(each, name) { return each[name] !== undefined && each[name].some((value) => value !== null); }
function lossAt(each, i) {
  const exact = valueAt(each, "lost", i), most = valueAt(each, "lost_bound", i);
  return isAbsent(exact) ? isAbsent(most) ? NONE : "at most " + count(most) : count(exact);
}
function countShort(value) {
  for (const [scale, unit] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (Math.abs(value) >= scale) { return Number((value / scale).toPrecision(4)) + NEAR + unit; }
  }
  return String(Number(value.toPrecision(4)));
}
function curves(step, id, options, series) {
  const seconds = step.times.map((each) => Date.parse(each) / 1000);
  const bands = [];
  series.forEach((each, i) => { if (each.isLow) { bands.push({series: [i, i + 1], fill: each.stroke + "33"}); } });
  byId(id).parentElement.hidden = series.length === 0;
  if (series.length === 0) { unplot(id); return; }
  plot(id, {...options, bands, times: "step from", range: () => [seconds[0], seconds[seconds.length - 1] + step.step_seconds]},
    series.map(({isLow, values, ...each}) => each), [seconds, ...series.map((each) => each.values)]);
}
// chosen: the name of a class; empty for all.
function drawClasses(step, chosen) {
  const all = step.classes.map((each, i) => ({...each, stroke: colour("--c" + i % COLOURS)})).filter((each) => chosen === "" || each.name === chosen);
  const measured = all.filter((each) => isKnown(each, "delay_mean_ns"));
  const seconds = (i) => step.rate_seconds === undefined ? step.step_seconds : step.rate_seconds[i];
  const aSecond = (factor) => (value, i) => value === null || seconds(i) === null ? null : value * factor / seconds(i);
  const edge = (each, sign) => each.delay_mean_ns.map((mean, i) => {
    const bound = valueAt(each, "delay_bound_ns", i);
    return isAbsent(mean) || isAbsent(bound) ? null : mean + sign * bound;
  });
  curves(step, "delay-plot", {label: "Mean delay of each class over time with its bound, and the 99 % quantile", height: 260, format: duration},
    measured.flatMap((each) => {
      const {stroke} = each, quiet = {stroke, points: {show: false}};
      const list = [{label: each.name + " mean", stroke, values: each.delay_mean_ns, isLow: false}];
      if (measured.length <= MOST_BANDS && isKnown(each, "delay_bound_ns")) {
        list.push({...quiet, label: each.name + " mean + bound", width: 0.5, class: "edge", values: edge(each, 1), isLow: false},
          {...quiet, label: each.name + " mean − bound", width: 0.5, class: "edge", values: edge(each, -1), isLow: true});
      }
      for (const [name, label, dash] of [["delay_p50_ns", "50 %", [2, 3]], ["delay_p99_ns", "99 %", [6, 4]], ["delay_max_ns", "largest", [10, 3, 2, 3]]]) {
        if ((chosen !== "" || name === "delay_p99_ns") && isKnown(each, name)) {
          list.push({...quiet, label: each.name + " " + label, dash, values: each[name], isLow: false});
        }
      }
      return list;
    }));
  const counts = (name, of, label) => all.filter((each) => isKnown(each, name)).map((each) => (
    {label: each.name + label, stroke: each.stroke, isLow: false, values: each[name].map(of)}));
  curves(step, "rate-plot", {label: "Packets a second of each class over time", height: 180, format: countShort}, counts("packets", aSecond(1), ""));
  curves(step, "bits-plot", {label: "Bits a second of each class over time", height: 180, format: countShort}, counts("octets", aSecond(8), ""));
  curves(step, "loss-plot", {label: "Lost packets of each class over time", height: 180, format: countShort},
    counts("lost", (value) => value, "").concat(counts("lost_bound", (value) => value, ", at most").map((each) => ({...each, dash: [6, 4]}))));
  const rows = [];
  for (let i = step.times.length - 1; i >= Math.max(0, step.times.length - TABLE_STEPS); i--) {
    for (const each of all) {
      if (["packets", "delay_mean_ns", "lost", "lost_bound"].some((name) => !isAbsent(valueAt(each, name, i)))) {
        rows.push([time(Date.parse(step.times[i])), each.name, count(valueAt(each, "packets", i)), count(valueAt(each, "octets", i)),
          bounded(valueAt(each, "delay_mean_ns", i), valueAt(each, "delay_bound_ns", i)), duration(valueAt(each, "delay_p50_ns", i)),
          duration(valueAt(each, "delay_p99_ns", i)), duration(valueAt(each, "delay_max_ns", i)), lossAt(each, i)]);
      }
    }
  }
  put("past", rows.length === 0 ? nothing("Nothing is kept yet.") : table("Table of the newest steps",
    ["step from", "class", "packets", "octets", "mean delay", "50 %", "99 %", "largest", "lost"], rows, "stack"));
}

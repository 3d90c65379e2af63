"use strict";
// Curves over time, by uPlot.
const plots = {};
function time1000(s) { return time(s * 1000); }
function colour(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
function ticks(u, times, axis, space, step) {
  const texts = times.map(time1000);
  return texts.map((text, i) => {
    const day = text.slice(step < 2592000 ? 5 : 0, 10);
    const hour = text.slice(11, step < 60 ? 19 : 16);
    return text === texts[i - 1] ? "" : step >= 86400 ? day : i > 0 && texts[i - 1].slice(0, 10) === text.slice(0, 10) ? hour : hour + "\n" + day;
  });
}
function unplot(id) { if (plots[id]) { plots[id].plot.destroy(); delete plots[id]; } }
// options: label, height, bands, format of values, range: () => [from, to] in seconds, over: what is drawn over it.
// values: seconds, then those of each of series, null where absent.
function plot(id, options, series, values) {
  const width = Math.max(260, byId(id).clientWidth);
  const axis = {stroke: colour("--text"), grid: {stroke: colour("--line"), width: 1}, ticks: {stroke: colour("--line")}};
  const shape = JSON.stringify([width, axis, series.map((each) => each.label)]);
  if (plots[id] && plots[id].shape === shape) { plots[id].plot.setData(values); return; }
  unplot(id);
  const box = element("div");
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", options.label + "; the table below has the values");
  byId(id).replaceChildren(box);
  const {format} = options;
  const made = new uPlot({width, height: options.height, bands: options.bands || [], hooks: {draw: options.over ? [options.over] : []},
    cursor: {drag: {setScale: false}},
    scales: {x: {range: options.range}, y: {range: (u, low, high) => low === null ? [0, 1] : [Math.min(0, low), high > 0 ? high * 1.05 : 1]}},
    series: [{value: (u, s) => s === null ? NONE : time1000(s), label: options.times || "time"}, ...series.map((each) => ({points: {size: 4}, width: 1.6, ...each,
      value: (u, value) => isAbsent(value) ? NONE : format(value)}))],
    padding: [null, 32, null, null], axes: [{...axis, space: 72, values: ticks}, {...axis, size: 74, values: (u, all) => all.map(format)}]}, values, box);
  plots[id] = {shape, plot: made};
}

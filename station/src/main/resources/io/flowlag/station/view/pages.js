"use strict";
const SHOW = {map: showMap, path: showPath, alerts: showAlerts, verdicts: showVerdicts, segment: showSegment, exporters: showExporters};
// What a page needs besides segments, verdicts and alerts.
const LOADS = {map: "network", path: "paths", exporters: "exporters"};
function show() {
  const name = page();
  for (const each of PAGES) { byId(each).hidden = each !== name; }
  for (const each of document.querySelectorAll("nav a")) {
    if (each.hash === "#" + name) { each.setAttribute("aria-current", "page"); } else { each.removeAttribute("aria-current"); }
  }
  document.title = name[0].toUpperCase() + name.slice(1) + " · flowlag station";
  if (data.segments && data.verdicts && (LOADS[name] === undefined || data[LOADS[name]])) { SHOW[name](); }
}
function head() {
  const {now_ms, newest_ms, history_fault, segments} = data.segments;
  const current = data.verdicts.verdicts.filter((each) => each.is_current).length;
  const on = data.alerts.alerts.filter((each) => each.is_current).length;
  byId("alert-count").textContent = on > 0 ? "(" + on + ")" : "";
  byId("count").textContent = current > 0 ? "(" + current + ")" : "";
  const newest = segments.find((each) => each.end_ms === newest_ms);
  const isOld = newest && now_ms - newest_ms > 3 * (newest.end_ms - newest.start_ms) + 75000;
  state(newest_ms === undefined ? "no data yet" : isOld ? "nothing new" : [
    on === 0 ? "" : on === 1 ? "1 alert" : on + " alerts", current === 0 ? "" : current + " slow or moved"].filter((each) => each).join(", ") || "nothing is slow",
    newest_ms === undefined ? "faint" : isOld || current + on > 0 ? "bad" : "good");
  byId("age").textContent = newest_ms === undefined ? "" : "newest window ended " + span(now_ms - newest_ms) + " ago";
  byId("fault").hidden = history_fault === undefined;
  if (byId("fault").textContent !== (history_fault || "")) { byId("fault").textContent = history_fault || ""; }
}
function state(text, className) {
  if (byId("state").textContent !== text) { byId("state").textContent = text; }
  byId("state").className = "state " + className;
}
let asked = 0;
async function refresh() {
  const turn = ++asked;
  try {
    const name = page();
    const [segments, verdicts, alerts, fourth] = await Promise.all([load("segments"), load("verdicts"), load("alerts"),
      name === "path" ? loadPaths() : LOADS[name] ? load(LOADS[name]) : null]);
    if (turn !== asked) { return; }
    Object.assign(data, {segments, verdicts, alerts}, LOADS[name] ? {[LOADS[name]]: fourth} : {});
    head();
    if (name === "segment") { await loadHistory(); }
    if (turn !== asked) { return; }
    show();
    document.body.dataset.shown = name;
  } catch (fault) {
    state("no answer from the station: " + fault.message, "bad");
  }
}
async function loadHistory() {
  const {key} = chosen();
  if (key === undefined) { return; }
  const [network, segment, dscp] = JSON.parse(key);
  const from = new Date(data.segments.now_ms - rangeS * 1000).toISOString();
  const to = new Date(data.segments.now_ms + 1).toISOString();
  try {
    data.history = await load("history?" + new URLSearchParams({network, segment, ...(dscp === null ? {} : {class: dscp}), from, to}));
  } catch (fault) {
    if (fault.status !== 404) { throw fault; }
    data.history = {windows: []};
  }
}
async function poll() {
  if (!document.hidden) { await refresh(); }
  setTimeout(poll, POLL_MS);
}
choices("ranges", RANGES, rangeS, (seconds) => {
  rangeS = seconds;
  refresh();
});
byId("map-measure").addEventListener("change", (event) => {
  measure = event.target.value;
  byId("map-by").textContent = measureName();
  legend();
  show();
});
byId("map-time").addEventListener("input", showTime);
byId("map-class").addEventListener("change", (event) => { mapClass = event.target.value; show(); });
byId("which").addEventListener("change", (event) => { location.hash = hrefOf(event.target.value); });
addEventListener("hashchange", () => { show(); byId(page() + "-name").focus(); refresh(); });
addEventListener("resize", show);
addEventListener("visibilitychange", refresh);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
legend();
show();
poll();

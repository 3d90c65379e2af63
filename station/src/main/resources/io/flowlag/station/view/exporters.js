"use strict";
// Exporters.
function clocksOf(exporter) {
  const moved = exporter.moved_clocks || [];
  return moved.length > 0 ? element("span", "moved: " + moved.join(", "), "bad") :
    exporter.clock_bound_ns === undefined ? NONE : "±" + NEAR + duration(exporter.clock_bound_ns);
}
function showExporters() {
  const {exporters, counters, now_ms} = data.exporters;
  put("peers", exporters.length === 0 ? nothing("No exporter was heard of yet.") : table("Table of exporters",
    ["exporter", "domain", "messages", "records", "missing records", "refused", "segments", "clocks", "last heard"], exporters.map((each) => [
      each.peer, String(each.domain), count(each.messages), count(each.records),
      element("span", count(each.missing_records), each.missing_records > 0 ? "bad" : ""),
      element("span", count(each.refused), each.refused > 0 ? "bad" : ""),
      count(each.segments), clocksOf(each),
      each.last_heard_ms === undefined ? NONE : span(now_ms - each.last_heard_ms) + " ago"]), "stack"));
  put("counters", table("Table of counters", ["counter", "value"], Object.entries(counters).map(([name, value]) => [name, count(value)])));
}

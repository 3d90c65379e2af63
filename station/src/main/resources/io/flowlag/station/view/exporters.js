"use strict";
// Exporters.
function showExporters() {
  const {exporters, counters, now_ms} = data.exporters;
  put("peers", exporters.length === 0 ? nothing("No exporter was heard of yet.") : table("Table of exporters",
    ["exporter", "domain", "messages", "records", "missing records", "refused", "last heard"], exporters.map((each) => [
      each.peer, String(each.domain), count(each.messages), count(each.records),
      element("span", count(each.missing_records), each.missing_records > 0 ? "bad" : ""),
      element("span", count(each.refused), each.refused > 0 ? "bad" : ""),
      each.last_heard_ms === undefined ? NONE : span(now_ms - each.last_heard_ms) + " ago"]), "stack"));
  put("counters", table("Table of counters", ["counter", "value"], Object.entries(counters).map(([name, value]) => [name, count(value)])));
}

"use strict";
const ALERTS = {slow_hop: "slow hop", clock_moved: "clock moved", route_changed: "route changed", delay_changed: "delay changed",
  budget_burns: "service level burns its budget"};

function alertCard(alert) {
  const made = element("article", undefined, "card");
  const isOver = alert.ends_ms !== undefined;
  made.appendChild(element("h3", alert.summary + " ")).appendChild(
    element("span", alert.is_current ? "on" : isOver ? "over" : "not heard of since", "tag " + (alert.is_current ? "bad" : "faint")));
  const list = made.appendChild(element("dl", undefined, "tiles"));
  const tile = (name, value) => {
    const box = list.appendChild(element("div"));
    box.append(element("dt", name));
    box.appendChild(element("dd")).append(value);
  };
  tile("what", ALERTS[alert.kind] || "unknown kind");
  tile("how urgent", alert.severity === "critical" ? "look at once" : "look within days");
  tile("since", time(alert.starts_ms));
  tile(isOver ? "lasted for" : "lasts for", span((isOver ? alert.ends_ms : data.alerts.now_ms) - alert.starts_ms));
  tile("class of service", alert.class === undefined ? "not told apart" : String(alert.class));
  if (alert.kind === "budget_burns") {
    tile("service level", alert.slo || NONE);
    tile("burns", alert.burn_ratio === undefined ? NONE : Number(alert.burn_ratio.toPrecision(3)) + NEAR + "times too fast");
  } else {
    tile(alert.kind === "clock_moved" ? "offset" : "slower by", duration(alert.effect_ns));
  }
  if (alert.segment !== undefined) {
    const found = data.segments.segments.find((each) => each.network === alert.network && each.segment === alert.segment &&
      each.class === alert.class);
    tile("segment", found ? link(hrefOf(keyOf(found)), alert.segment, "segment of " + alert.id) : alert.segment);
  }
  if (alert.verdict !== undefined) {
    tile("verdict", link("#verdicts/" + encodeURIComponent(alert.verdict), "suspects and evidence", "verdict of " + alert.id));
  }
  return made;
}
function showAlerts() {
  const all = data.alerts.alerts;
  put("all-alerts", ...(all.length === 0 ? [nothing("There is no alert, and there was none in the last 24 hours.")] : all.map(alertCard)));
}

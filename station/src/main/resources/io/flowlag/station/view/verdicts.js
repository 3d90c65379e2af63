"use strict";
// Verdicts.
const KINDS = {clock_moved: "Clock moved", route_changed: "Route or clock changed", no_fit: "No fit: routes or bounds are wrong"};
function title(verdict) {
  const first = verdict.suspects[0];
  if (verdict.kind !== "slow_hop") { return (KINDS[verdict.kind] || "Unknown kind") + (verdict.clock ? ": " + verdict.clock : ""); }
  return !first ? "Slow hop" : verdict.is_one_route ? "Slow hop: " + first.from + " → " + first.to :
    "Slow somewhere, most likely " + first.from + " → " + first.to;
}
function card(verdict) {
  const made = element("article", undefined, "card");
  made.dataset.verdict = verdict.id;
  const head = made.appendChild(element("h3", title(verdict) + " "));
  head.appendChild(element("span", verdict.is_current ? "now" : "over", "tag " + (verdict.is_current ? "bad" : "faint")));
  const list = made.appendChild(element("dl", undefined, "tiles"));
  const tile = (name, value) => {
    const box = list.appendChild(element("div"));
    box.append(element("dt", name), element("dd", value));
  };
  tile("since", time(verdict.since_ms));
  tile(verdict.is_current ? "lasts for" : "lasted for", span(verdict.end_ms - verdict.since_ms));
  tile(verdict.kind === "clock_moved" ? "offset" : "slower by", duration(verdict.effect_ns));
  tile("95 % interval", duration(verdict.effect_low_ns) + " to " + duration(verdict.effect_high_ns));
  tile("confidence", verdict.confidence === undefined ? NONE : probability(verdict.confidence));
  tile("class of service", verdict.class === undefined ? "not told apart" : String(verdict.class));
  if (verdict.suspects.length > 0) {
    const rows = verdict.suspects.map((suspect) => {
      const bar = element("span", undefined, "prob");
      bar.style.width = 80 * suspect.probability + "px";
      bar.setAttribute("aria-hidden", "true");
      const cell = element("span", probability(suspect.probability) + " ");
      cell.appendChild(bar);
      return [suspect.from + " → " + suspect.to, cell];
    });
    made.appendChild(table("Suspects of verdict " + verdict.id, ["suspect", "probability"], rows));
  }
  const evidence = made.appendChild(element("p", verdict.kind === "no_fit" ? "Largest residuals: " : "Evidence: "));
  if (verdict.evidence.length === 0) { evidence.append(NONE); }
  verdict.evidence.forEach((name, i) => {
    const segment = data.segments.segments.find((each) => each.segment === name && each.class === verdict.class);
    evidence.append(i > 0 ? ", " : "", segment ? link(hrefOf(keyOf(segment)), name, verdict.id + name) : name);
  });
  if (!verdict.is_final) { made.appendChild(element("p", "Provisional: more records may come.", "faint")); }
  return made;
}
function showVerdicts() {
  const all = data.verdicts.verdicts;
  put("faults", ...(all.length === 0 ? [nothing("Nothing is slow, and nothing was in the last 24 hours.")] : all.map(card)));
  const wanted = decodeURIComponent(location.hash.split("/")[1] || "");
  const found = [...document.querySelectorAll("#faults article")].find((each) => each.dataset.verdict === wanted);
  if (found) { found.classList.add("wanted"); }
  if (found && byId("faults").dataset.wanted !== wanted) { found.scrollIntoView(); }
  byId("faults").dataset.wanted = wanted;
}

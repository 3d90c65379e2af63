package io.flowlag.station.view;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import io.flowlag.common.config.Prefix;
import io.flowlag.common.http.HttpResponse;
import io.flowlag.common.http.MetricFamily;
import io.flowlag.station.schema.PathWindow;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Verdict;
import io.flowlag.station.view.WindowHistory.Kept;
import io.flowlag.station.view.WindowHistory.Series;
import io.flowlag.station.view.WindowHistory.Tier;
import org.agrona.concurrent.EpochNanoClock;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.Fields;

import java.nio.ByteBuffer;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** REST as {@code docs/station/openapi.yaml} has it; faults are problems of RFC 9457. Any thread; reads of the past block. */
final class ViewApi {
    private static final String SEGMENT = "segment";
    private static final String CLASS = "class";
    private static final String NETWORK = "network";
    private static final String FROM = "from";
    private static final String TO = "to";
    private static final String AT = "at";
    private static final String SOURCE = "src";
    private static final String DESTINATION = "dst";
    private static final String PROTOCOL = "protocol";
    private static final String SOURCE_PORT = "src_port";
    private static final String DESTINATION_PORT = "dst_port";
    private static final Map<String, Set<String>> PARAMETERS = Map.of(
        "segments", Set.of(AT), "verdicts", Set.of(AT), "alerts", Set.of(), "exporters", Set.of(), NETWORK, Set.of(),
        "history", Set.of(SEGMENT, CLASS, NETWORK, FROM, TO),
        "paths", Set.of(SOURCE, DESTINATION, PROTOCOL, SOURCE_PORT, DESTINATION_PORT, NETWORK, AT));
    /** Below /api/. */
    static final Set<String> PATHS = PARAMETERS.keySet();

    private static final int HIGHEST_CLASS = 63;
    private static final int HIGHEST_PROTOCOL = 255;
    private static final int HIGHEST_PORT = 65_535;
    /** Flows of an answer. */
    static final int MOST_FLOWS = 200;
    private static final Duration SHOWN = Duration.ofHours(1);
    /** Points of a question that is answered in a finer tier. */
    private static final int MOST_POINTS = 3_000;
    private static final long RAW_NS = Duration.ofSeconds(10).toNanos();
    /** Of a window. */
    private static final long LONGEST_NS = Duration.ofHours(1).toNanos();
    private static final long NS = Duration.ofSeconds(1).toNanos();

    private final LiveState live;
    private final WindowHistory history;
    private final View.Sources sources;
    private final EpochNanoClock clock;
    private final Supplier<String> fault;
    private volatile MapJson map;

    /** A question that cannot be answered. */
    private static final class RefusedException extends Exception {
        private static final long serialVersionUID = 1L;

        private final int status;

        private RefusedException(final int status, final String message) {
            super(message);
            this.status = status;
        }
    }

    ViewApi(
        final MapJson map, final LiveState live, final WindowHistory history, final View.Sources sources,
        final EpochNanoClock clock, final Supplier<String> fault) {
        this.map = map;
        this.live = live;
        this.history = history;
        this.sources = sources;
        this.clock = clock;
        this.fault = fault;
    }

    void onNetwork(final MapJson newest) {
        map = newest;
    }

    HttpResponse answer(final String path, final Request request) {
        try {
            final Map<String, String> parameters = parameters(request, PARAMETERS.get(path));
            return ViewJson.response(switch (path) {
                case "segments" -> segments(parameters);
                case "verdicts" -> verdicts(parameters);
                case "alerts" -> alerts();
                case "exporters" -> exporters();
                case NETWORK -> network();
                case "paths" -> paths(parameters);
                default -> pastOf(parameters);
            });
        } catch (final RefusedException ex) {
            return ViewJson.problem(ex.status, ex.getMessage());
        } catch (final SQLException ex) {
            return ViewJson.problem(500, history.explained(ex));
        }
    }

    private static Map<String, String> parameters(final Request request, final Set<String> known) throws RefusedException {
        final Fields fields;
        try {
            fields = Request.extractQueryParameters(request);
        } catch (final RuntimeException ex) {
            throw new RefusedException(400, "the query is no list of NAME=VALUE in UTF-8");
        }
        for (final Fields.Field field : fields) {
            if (!known.contains(field.getName())) {
                throw new RefusedException(400, field.getName() + ": is no parameter" + (known.isEmpty() ? ": there is none" :
                    ": there is " + String.join(", ", new TreeSet<>(known))));
            }
            if (field.getValues().size() > 1) {
                throw new RefusedException(400, field.getName() + ": is given more than once");
            }
        }
        return fields.stream().collect(Collectors.toMap(Fields.Field::getName, Fields.Field::getValue));
    }

    /** Adds what every answer about now has. */
    private ObjectNode answerOfNow() {
        final ObjectNode answer = ViewJson.object();
        ViewJson.putTime(answer, "now_ms", clock.nanoTime());
        ViewJson.putTime(answer, "newest_ms", live.newestNs());
        if (!fault.get().isEmpty()) {
            answer.put("history_fault", fault.get());
        }
        return answer;
    }

    private ObjectNode segments(final Map<String, String> parameters) throws RefusedException, SQLException {
        final ObjectNode answer = answerOfNow();
        final ArrayNode segments = answer.putArray("segments");
        if (parameters.containsKey(AT)) {
            history.windowsAt(timeNs(parameters, AT, 0)).stream().sorted(LiveState.IN_ORDER)
                .forEach((window) -> segments.add(ViewJson.segment(window, true)));
            return answer;
        }
        live.windows().forEach((window) -> segments.add(ViewJson.segment(window, live.isCurrent(window))));
        return answer;
    }

    private ObjectNode verdicts(final Map<String, String> parameters) throws RefusedException, SQLException {
        final ObjectNode answer = answerOfNow();
        final ArrayNode verdicts = answer.putArray("verdicts");
        if (parameters.containsKey(AT)) {
            final long atNs = timeNs(parameters, AT, 0);
            history.verdicts(atNs + 1, atNs + LONGEST_NS).stream().filter((verdict) -> verdict.getStartNs() <= atNs)
                .forEach((verdict) -> verdicts.add(ViewJson.verdict(verdict, true)));
            return answer;
        }
        live.verdicts().forEach((verdict) -> verdicts.add(ViewJson.verdict(verdict, live.isCurrent(verdict))));
        return answer;
    }

    private ObjectNode alerts() {
        final ObjectNode answer = answerOfNow();
        final ArrayNode alerts = answer.putArray("alerts");
        live.alerts().forEach((alert) -> alerts.add(AlertJson.rest(alert, live.isCurrent(alert))));
        return answer;
    }

    private ObjectNode exporters() {
        final ObjectNode answer = answerOfNow();
        final ArrayNode exporters = answer.putArray("exporters");
        for (final ExporterRow row : sources.exporters().get().stream()
            .sorted(Comparator.comparing(ExporterRow::peer).thenComparingLong(ExporterRow::domain)).toList()) {
            final ObjectNode exporter = exporters.addObject();
            exporter.put("peer", row.peer()).put("domain", row.domain()).put("messages", row.messages())
                .put("records", row.records()).put("missing_records", row.missing()).put("refused", row.refused());
            ViewJson.putTime(exporter, "last_heard_ms", row.lastHeardNs());
            addClocks(exporter, map.reported(row.peer(), row.domain()));
        }
        final ObjectNode counters = answer.putObject("counters");
        sources.counters().get().forEach(counters::put);
        return answer;
    }

    /** What segments that an exporter reports say of clocks; nothing if it reports none of the map. */
    private void addClocks(final ObjectNode exporter, final Map<String, Set<String>> clocksOfSegments) {
        if (clocksOfSegments.isEmpty()) {
            return;
        }
        exporter.put("segments", clocksOfSegments.size());
        live.windows().stream().filter(live::isCurrent).filter((each) -> clocksOfSegments.containsKey(each.getSegment()))
            .filter(SegmentWindow::hasClockBoundNs).mapToDouble(SegmentWindow::getClockBoundNs).max()
            .ifPresent((bound) -> exporter.put("clock_bound_ns", bound));
        final Set<String> moved = live.verdicts().stream().filter(live::isCurrent).map(Verdict::getClock)
            .collect(Collectors.toCollection(TreeSet::new));
        moved.retainAll(clocksOfSegments.values().stream().flatMap(Set::stream).collect(Collectors.toSet()));
        moved.forEach(exporter.putArray("moved_clocks")::add);
    }

    private ObjectNode network() {
        final MapJson shown = map;
        final List<SegmentWindow> windows = live.windows();
        final Set<String> measured = windows.stream().filter(SegmentWindow::hasMeanNs).filter(live::isCurrent)
            .map(SegmentWindow::getSegment)
            .collect(Collectors.toSet());
        return shown.json(measured, windows.stream().map(SegmentWindow::getSegment)
            .filter((name) -> !shown.has(name)).collect(Collectors.toCollection(TreeSet::new)));
    }

    private ObjectNode paths(final Map<String, String> parameters) throws RefusedException {
        final ObjectNode answer = answerOfNow();
        final Predicate<RecentPaths.Flow> wanted = flows(parameters);
        final List<PathWindow> found = live.paths().newest(wanted, timeNs(parameters, AT, Long.MAX_VALUE));
        found.sort(PathJson.SLOWEST_FIRST);
        answer.put("flows", found.size());
        PathJson.addRoutes(answer.putArray("routes"), found);
        final ArrayNode paths = answer.putArray("paths");
        found.stream().limit(MOST_FLOWS).map(PathJson::path).forEach(paths::add);
        final ArrayNode ends = answer.putArray("window_ends_ms");
        live.paths().ends().forEach((endNs) -> ends.add(TimeUnit.NANOSECONDS.toMillis(endNs)));
        return answer;
    }

    private static Predicate<RecentPaths.Flow> flows(final Map<String, String> parameters) throws RefusedException {
        final Prefix source = prefix(parameters, SOURCE);
        final Prefix destination = prefix(parameters, DESTINATION);
        final int protocol = number(parameters, PROTOCOL, HIGHEST_PROTOCOL);
        final int sourcePort = number(parameters, SOURCE_PORT, HIGHEST_PORT);
        final int destinationPort = number(parameters, DESTINATION_PORT, HIGHEST_PORT);
        final String network = parameters.get(NETWORK);
        return (flow) -> contains(source, flow.source()) && contains(destination, flow.destination()) &&
            (protocol < 0 || flow.protocol() == protocol) && (sourcePort < 0 || flow.sourcePort() == sourcePort) &&
            (destinationPort < 0 || flow.destinationPort() == destinationPort) &&
            (network == null || flow.network().equals(network));
    }

    private static Prefix prefix(final Map<String, String> parameters, final String name) throws RefusedException {
        final String written = parameters.get(name);
        try {
            return written == null ? null : Prefix.of(written);
        } catch (final IllegalArgumentException ex) {
            throw new RefusedException(400, name + ": " + ex.getMessage());
        }
    }

    private static boolean contains(final Prefix prefix, final ByteString address) {
        final ByteBuffer octets = address.asReadOnlyByteBuffer();
        return prefix == null || (address.size() == Integer.BYTES ?
            prefix.contains(false, 0, Integer.toUnsignedLong(octets.getInt(0))) : address.size() == 2 * Long.BYTES &&
            prefix.contains(true, octets.getLong(0), octets.getLong(Long.BYTES)));
    }

    private ObjectNode pastOf(final Map<String, String> parameters) throws RefusedException, SQLException {
        final Series series = series(parameters);
        final long toNs = timeNs(parameters, TO, clock.nanoTime());
        final long fromNs = timeNs(parameters, FROM, toNs - SHOWN.toNanos());
        if (fromNs >= toNs) {
            throw new RefusedException(400, FROM + ": must be before " + TO);
        }
        final ObjectNode answer = ViewJson.object();
        answer.put(NETWORK, series.network()).put(SEGMENT, series.segment());
        if (series.dscp() >= 0) {
            answer.put(CLASS, series.dscp());
        }
        final ArrayNode points = answer.putArray("windows");
        for (final Kept kept : history.windows(series, tier(toNs - fromNs), fromNs, toNs)) {
            final ObjectNode point = points.addObject();
            ViewJson.addWindow(point, kept.window());
            point.put("windows", kept.windows());
        }
        return answer;
    }

    /** The finest that does not have too many points. */
    private static Tier tier(final long spanNs) {
        return spanNs <= MOST_POINTS * RAW_NS ? Tier.RAW :
            spanNs <= MOST_POINTS * Tier.MINUTE.lengthNs() ? Tier.MINUTE : Tier.HOUR;
    }

    private Series series(final Map<String, String> parameters) throws RefusedException {
        final String segment = parameters.get(SEGMENT);
        if (segment == null || segment.isEmpty()) {
            throw new RefusedException(400, SEGMENT + ": is missing: give the name of a segment");
        }
        final int dscp = number(parameters, CLASS, HIGHEST_CLASS);
        final String network = parameters.get(NETWORK);
        final Set<Series> found = new HashSet<>();
        Stream.concat(history.known().stream(), live.windows().stream().map(Series::of))
            .filter((each) -> each.segment().equals(segment) && each.dscp() == dscp)
            .filter((each) -> network == null || each.network().equals(network)).forEach(found::add);
        if (found.isEmpty()) {
            throw new RefusedException(404, SEGMENT + ": nothing is known of " + segment +
                (dscp < 0 ? " without a class" : " in class " + dscp) + (network == null ? "" : " of the network " + network));
        }
        if (found.size() > 1) {
            throw new RefusedException(400, NETWORK + ": is missing: " + found.size() + " networks have this segment");
        }
        return found.iterator().next();
    }

    private static int number(final Map<String, String> parameters, final String name, final int highest)
        throws RefusedException {
        final String written = parameters.get(name);
        if (written == null) {
            return -1;
        }
        if (!written.matches("[0-9]{1,5}") || Integer.parseInt(written) > highest) {
            throw new RefusedException(400, name + ": must be a number from 0 to " + highest);
        }
        return Integer.parseInt(written);
    }

    private static long timeNs(final Map<String, String> parameters, final String name, final long otherwiseNs)
        throws RefusedException {
        final String written = parameters.get(name);
        if (written == null) {
            return otherwiseNs;
        }
        try {
            final Instant time = Instant.parse(written);
            return Math.addExact(Math.multiplyExact(time.getEpochSecond(), NS), time.getNano());
        } catch (final DateTimeException | ArithmeticException ex) {
            throw new RefusedException(400, name + ": must be a time such as 2026-11-26T18:00:00Z");
        }
    }

    /** {@return all metrics but the server's own} */
    List<MetricFamily> metrics() {
        final Collection<Verdict> current = live.verdicts().stream().filter(live::isCurrent).toList();
        final List<MetricFamily> families = new ArrayList<>(
            ViewMetrics.ofSegments(live.windows().stream().filter(live::isCurrent).toList()));
        families.add(ViewMetrics.ofVerdicts(current));
        families.add(ViewMetrics.ofAlerts(live.alerts().stream().filter(live::isCurrent).toList()));
        families.add(ViewMetrics.ofLevels(live.levels()));
        families.addAll(ViewMetrics.ofExporters(sources.exporters().get()));
        families.addAll(ViewMetrics.ofCounters(sources.counters().get()));
        return families;
    }
}

package io.flowlag.station.view;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import io.flowlag.station.schema.PathWindow;
import io.flowlag.station.schema.PathWindow.Stretch;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/** Paths as {@code docs/station/openapi.yaml} has them. What is not known is absent. Any thread. */
final class PathJson {
    /** The largest mean first; without one, last. */
    static final Comparator<PathWindow> SLOWEST_FIRST = Comparator.comparingDouble((final PathWindow path) ->
        path.hasMeanNs() ? -path.getMeanNs() : Double.MAX_VALUE).thenComparing((path) -> RecentPaths.Flow.of(path).toString());

    /** Stretches, and which of them have a mean: paths with the same ones can be summed. */
    private record Route(String network, List<List<Object>> stretches) {
        static Route of(final PathWindow path) {
            return new Route(path.getNetwork(), path.getStretchesList().stream().map((stretch) -> List.<Object>of(
                stretch.getSegment(), stretch.getFrom(), stretch.getTo(), stretch.hasMeanNs())).toList());
        }
    }

    private PathJson() {
    }

    /** A flow's window. */
    static ObjectNode path(final PathWindow path) {
        final ObjectNode node = ViewJson.object();
        node.put("network", path.getNetwork());
        node.put("source", text(path.getSrcAddr())).put("destination", text(path.getDstAddr()));
        node.put("protocol", path.getProto()).put("source_port", path.getSrcPort()).put("destination_port", path.getDstPort());
        ViewJson.putTime(node, "start_ms", path.getStartNs());
        ViewJson.putTime(node, "end_ms", path.getEndNs());
        node.put("is_final", path.getFinal());
        ViewJson.put(node, "followed_share", path.getShare() > 0, path.getShare());
        node.put("is_divided", path.getIsDivided());
        addSums(node, path);
        ViewJson.put(node, "least_deviation_ns", path.hasLeastDeviationNs(), path.getLeastDeviationNs());
        ViewJson.put(node, "most_deviation_ns", path.hasMostDeviationNs(), path.getMostDeviationNs());
        final ArrayNode stretches = node.putArray("stretches");
        for (final Stretch each : path.getStretchesList()) {
            final ObjectNode stretch = addStretch(stretches, each);
            ViewJson.put(stretch, "deviation_ns", each.hasDeviationNs(), each.getDeviationNs());
            if (each.hasEstimator()) {
                stretch.put("estimator", each.getEstimator());
            }
        }
        return node;
    }

    private static void addSums(final ObjectNode node, final PathWindow path) {
        ViewJson.put(node, "mean_ns", path.hasMeanNs(), path.getMeanNs());
        ViewJson.put(node, "bound_ns", path.hasBoundNs(), path.getBoundNs());
        ViewJson.put(node, "clock_bound_ns", path.hasClockBoundNs(), path.getClockBoundNs());
    }

    private static ObjectNode addStretch(final ArrayNode stretches, final Stretch each) {
        final ObjectNode stretch = stretches.addObject();
        if (each.hasSegment()) {
            stretch.put("segment", each.getSegment());
        }
        stretch.put("from", each.getFrom()).put("to", each.getTo());
        if (each.hasPackets()) {
            stretch.put("packets", each.getPackets());
        }
        ViewJson.put(stretch, "mean_ns", each.hasMeanNs(), each.getMeanNs());
        ViewJson.put(stretch, "bound_ns", each.hasBoundNs(), each.getBoundNs());
        if (each.hasLost()) {
            stretch.put("lost_packets", each.getLost());
        }
        return stretch;
    }

    /**
     * Adds sums of flows that take the same stretches and know the same of them, those with most flows first, then in the order
     * of their first flows. A flow weighs what it has packets, the same in each stretch, so that means of stretches add up to
     * that of the route. Errors of flows may have one sign, so bounds are weighted too. What one of the flows lacks is absent.
     */
    static void addRoutes(final ArrayNode routes, final Collection<PathWindow> paths) {
        final Map<Route, List<PathWindow>> byRoute = new LinkedHashMap<>();
        paths.forEach((path) -> byRoute.computeIfAbsent(Route.of(path), (route) -> new ArrayList<>()).add(path));
        byRoute.values().stream().sorted(Comparator.comparingInt((List<PathWindow> each) -> -each.size()))
            .forEach((flows) -> {
                final PathWindow sum = sum(flows);
                final ObjectNode node = routes.addObject().put("network", sum.getNetwork()).put("flows", flows.size());
                addSums(node, sum);
                final ArrayNode stretches = node.putArray("stretches");
                sum.getStretchesList().forEach((each) -> addStretch(stretches, each));
            });
    }

    private static PathWindow sum(final List<PathWindow> flows) {
        final double[] weights = flows.stream().mapToDouble((flow) -> Math.max(1, flow.getStretchesList().stream()
            .mapToLong(Stretch::getPackets).max().orElse(0))).toArray();
        final PathWindow first = flows.get(0);
        final PathWindow.Builder sum = PathWindow.newBuilder().setNetwork(first.getNetwork());
        if (flows.stream().allMatch(PathWindow::hasMeanNs)) {
            sum.setMeanNs(mean(flows, weights, PathWindow::getMeanNs));
        }
        if (flows.stream().allMatch(PathWindow::hasBoundNs)) {
            sum.setBoundNs(mean(flows, weights, PathWindow::getBoundNs));
        }
        if (flows.stream().allMatch(PathWindow::hasClockBoundNs)) {
            sum.setClockBoundNs(flows.stream().mapToDouble(PathWindow::getClockBoundNs).max().orElseThrow());
        }
        for (int i = 0; i < first.getStretchesCount(); i++) {
            final int index = i;
            sum.addStretches(stretch(flows.stream().map((flow) -> flow.getStretches(index)).toList(), weights));
        }
        return sum.build();
    }

    private static Stretch stretch(final List<Stretch> parts, final double[] weights) {
        final Stretch.Builder stretch = parts.get(0).toBuilder().clearPackets().clearMeanNs().clearBoundNs().clearLost();
        if (all(parts, Stretch::hasPackets)) {
            stretch.setPackets(parts.stream().mapToLong(Stretch::getPackets).sum());
        }
        if (all(parts, Stretch::hasMeanNs)) {
            stretch.setMeanNs(mean(parts, weights, Stretch::getMeanNs));
        }
        if (all(parts, Stretch::hasBoundNs)) {
            stretch.setBoundNs(mean(parts, weights, Stretch::getBoundNs));
        }
        if (all(parts, Stretch::hasLost)) {
            stretch.setLost(parts.stream().mapToLong(Stretch::getLost).sum());
        }
        return stretch.build();
    }

    private static boolean all(final List<Stretch> parts, final Predicate<Stretch> has) {
        return parts.stream().allMatch(has);
    }

    private static <T> double mean(final List<T> each, final double[] weights, final ToDoubleFunction<T> value) {
        double sum = 0;
        double weight = 0;
        for (int i = 0; i < weights.length; i++) {
            sum += weights[i] * value.applyAsDouble(each.get(i));
            weight += weights[i];
        }
        return sum / weight;
    }

    private static String text(final ByteString octets) {
        try {
            return InetAddress.getByAddress(octets.toByteArray()).getHostAddress();
        } catch (final UnknownHostException ex) {
            return octets.size() + " octets"; // no address
        }
    }
}

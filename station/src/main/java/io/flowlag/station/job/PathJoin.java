package io.flowlag.station.job;

import com.google.protobuf.ByteString;
import io.flowlag.network.locate.MeasuredSegment;
import io.flowlag.network.route.SegmentOrder;
import io.flowlag.network.topology.Topology;
import io.flowlag.network.window.PathDelay;
import io.flowlag.station.job.state.FlowPart;
import io.flowlag.station.job.state.FlowSegment;
import io.flowlag.station.job.state.FlowSegments;
import io.flowlag.station.schema.PathWindow;
import io.flowlag.station.wire.Known;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Sums the records of a flow by segment, and joins its segments to a path in one network. One thread. */
final class PathJoin {
    private static final int IPV4_BYTES = 4;
    private static final int MOST_ORDERS = 4096;

    private final Networks.Held network;
    private final Topology topology;
    private final RoutedSegments routes;
    private final Map<List<String>, SegmentOrder> orders = new HashMap<>();

    PathJoin(final Networks.Held network) {
        this.network = network;
        topology = network.map().topology();
        routes = network.routes();
    }

    Networks.Held network() {
        return network;
    }

    /** {@return what a segment says of a flow with one more record, or a part of one; before may be null} */
    static FlowSegment plus(final FlowSegment before, final FlowPart part, final long packets, final long measured,
        final long lost) {
        final FlowSegment.Builder sum = before == null ? FlowSegment.newBuilder().setSegment(part.getSegment()) :
            before.toBuilder();
        final boolean isFirst = sum.getMeasured() == 0;
        final long count = sum.getMeasured() + measured;
        sum.setPackets(sum.getPackets() + packets).setMeasured(count);
        if (part.hasLost()) {
            sum.setLost(sum.getLost() + lost);
        }
        if (measured == 0) {
            return sum.build();
        }
        final double step = part.getMeanNs() - sum.getMeanNs();
        if (part.hasDeviationNs() && (isFirst || sum.hasSquares())) {
            sum.setSquares(sum.getSquares() + measured * part.getDeviationNs() * part.getDeviationNs() +
                (isFirst ? 0 : step * step * (count - measured) / count * measured));
        } else {
            sum.clearSquares();
        }
        if (part.getBoundNs() >= 0 && (isFirst || sum.hasBoundNs())) {
            sum.setBoundNs(sum.getBoundNs() + (part.getBoundNs() - sum.getBoundNs()) * measured / count);
        } else {
            sum.clearBoundNs();
        }
        if (part.hasEstimator() && (isFirst || sum.hasEstimator() && sum.getEstimator() == part.getEstimator())) {
            sum.setEstimator(part.getEstimator());
        } else {
            sum.clearEstimator();
        }
        if (part.hasClockBoundNs() && (isFirst || sum.hasClockBoundNs())) {
            sum.setClockBoundNs(Math.max(sum.getClockBoundNs(), part.getClockBoundNs()));
        } else {
            sum.clearClockBoundNs();
        }
        return sum.setMeanNs(isFirst ? part.getMeanNs() : sum.getMeanNs() + step * measured / count).build();
    }

    /** {@return the path of a flow; null if less than two segments can be put in order} */
    PathWindow.Builder join(final ByteString flow, final FlowSegments said) {
        final List<FlowSegment> segments = said.getSegmentsList().stream()
            .filter((each) -> routes.span(each.getSegment()) != null)
            .sorted(Comparator.comparing(FlowSegment::getSegment)).toList();
        final SegmentOrder order = order(segments.stream().map(FlowSegment::getSegment).toList());
        final List<FlowSegment> ordered = new ArrayList<>();
        final List<PathDelay.Part> parts = new ArrayList<>();
        for (int i = 0; i < segments.size(); i++) {
            if (order.begins()[i] != SegmentOrder.NONE) {
                ordered.add(segments.get(i));
                parts.add(part(segments.get(i), order.begins()[i], order.ends()[i]));
            }
        }
        if (parts.size() < 2) {
            return null;
        }
        final PathDelay delay = PathDelay.of(parts, clockBounds(ordered));
        final PathWindow.Builder path = PathWindow.newBuilder().setIsDivided(said.getIsDivided());
        key(flow, path);
        delay.stretches().forEach((each) -> path.addStretches(stretch(each, order, parts, ordered)));
        if (!Double.isNaN(delay.meanNs())) {
            path.setMeanNs(delay.meanNs());
            Known.set(delay.boundNs(), path::setBoundNs);
            if (ordered.stream().allMatch(FlowSegment::hasClockBoundNs)) {
                path.setClockBoundNs(Math.min(
                    delay.clockBoundNs(), ordered.stream().mapToDouble(FlowSegment::getClockBoundNs).sum()));
            }
            if (!Double.isNaN(delay.mostDeviationNs())) {
                path.setLeastDeviationNs(delay.leastDeviationNs()).setMostDeviationNs(delay.mostDeviationNs());
            }
        }
        return path;
    }

    private SegmentOrder order(final List<String> names) {
        if (orders.size() == MOST_ORDERS) {
            orders.clear();
        }
        return orders.computeIfAbsent(
            names, (each) -> SegmentOrder.of(routes.routes(), each.stream().map(routes::span).toList()));
    }

    private PathDelay.Part part(final FlowSegment segment, final int begin, final int end) {
        final MeasuredSegment measured = routes.find(segment.getSegment());
        return new PathDelay.Part(begin, end, segment.getMeasured() > 0 ? segment.getMeanNs() : Double.NaN,
            segment.hasBoundNs() ? segment.getBoundNs() : Double.NaN, deviationNs(segment), measured.senderClock(),
            measured.receiverClock());
    }

    private static double deviationNs(final FlowSegment segment) {
        return segment.hasSquares() ? Math.sqrt(segment.getSquares() / segment.getMeasured()) : Double.NaN;
    }

    /** A clock is off by no more than both clocks of any segment with it. */
    private double[] clockBounds(final List<FlowSegment> segments) {
        final double[] bounds = new double[routes.clocks().size()];
        Arrays.fill(bounds, Double.POSITIVE_INFINITY);
        for (final FlowSegment each : segments) {
            final MeasuredSegment measured = routes.find(each.getSegment());
            bounds[measured.senderClock()] = Math.min(bounds[measured.senderClock()], each.getClockBoundNs());
            bounds[measured.receiverClock()] = Math.min(bounds[measured.receiverClock()], each.getClockBoundNs());
        }
        return bounds;
    }

    private PathWindow.Stretch stretch(final PathDelay.Stretch each, final SegmentOrder order, final List<PathDelay.Part> parts,
        final List<FlowSegment> segments) {
        final PathWindow.Stretch.Builder stretch = PathWindow.Stretch.newBuilder()
            .setFrom(topology.name(order.nodes()[each.begin()])).setTo(topology.name(order.nodes()[each.end()]));
        Known.set(each.meanNs(), stretch::setMeanNs);
        Known.set(each.boundNs(), stretch::setBoundNs);
        for (int i = 0; each.isMeasured() && i < parts.size() && !stretch.hasSegment(); i++) {
            final PathDelay.Part part = parts.get(i);
            if (part.begin() == each.begin() && part.end() == each.end() &&
                Double.compare(part.meanNs(), each.meanNs()) == 0 && Double.compare(part.boundNs(), each.boundNs()) == 0) {
                reported(segments.get(i), stretch);
            }
        }
        return stretch.build();
    }

    private static void reported(final FlowSegment segment, final PathWindow.Stretch.Builder stretch) {
        stretch.setSegment(segment.getSegment()).setPackets(segment.getPackets());
        if (segment.hasSquares()) {
            stretch.setDeviationNs(deviationNs(segment));
        }
        if (segment.hasLost()) {
            stretch.setLost(segment.getLost());
        }
        if (segment.hasEstimator()) {
            stretch.setEstimator(segment.getEstimator());
        }
    }

    private static void key(final ByteString flow, final PathWindow.Builder path) {
        final ByteBuffer octets = flow.asReadOnlyByteBuffer();
        path.setSrcAddr(address(octets)).setDstAddr(address(octets)).setSrcPort(Short.toUnsignedInt(octets.getShort()))
            .setDstPort(Short.toUnsignedInt(octets.getShort())).setProto(Byte.toUnsignedInt(octets.get()));
    }

    private static ByteString address(final ByteBuffer octets) {
        final long high = octets.getLong();
        final long low = octets.getLong();
        final boolean isIpv4 = high == 0 && low >>> Integer.SIZE == 0xFFFF;
        final ByteBuffer address = ByteBuffer.allocate(FlowReader.ADDRESS_BYTES).putLong(high).putLong(low);
        return isIpv4 ? ByteString.copyFrom(address.array(), FlowReader.ADDRESS_BYTES - IPV4_BYTES, IPV4_BYTES) :
            ByteString.copyFrom(address.array());
    }
}

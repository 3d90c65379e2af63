package io.flowlag.station.view;

import com.google.protobuf.ByteString;
import io.flowlag.network.window.IntervalDelay;
import io.flowlag.network.window.MeanSource;
import io.flowlag.network.window.WindowDelay;
import io.flowlag.sketch.quantile.LogHistogram;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Source;
import io.flowlag.station.wire.Known;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.List;

/**
 * Sums windows of a segment to a longer one. Packets add, the mean is weighted by them. Errors of windows may have one sign, so
 * bounds are weighted by packets too; a bound, a loss or a histogram that one of the windows lacks is absent. The floor is that
 * of the last window. One thread.
 */
final class WindowSum {
    /** Octets of a histogram, at most. */
    private static final int HISTOGRAM_LIMIT_BYTES = 8192;
    private static final int UPPER_BOUND = 2;

    private final LogHistogram histogram = new LogHistogram();
    private final LogHistogram ofWindow = new LogHistogram();
    private final UnsafeBuffer octets = new UnsafeBuffer(new byte[HISTOGRAM_LIMIT_BYTES]);

    /**
     * Sums windows.
     *
     * @param windows one or more of one segment and class, in order of time.
     * @param startNs of the sum.
     * @param endNs   of the sum.
     */
    SegmentWindow of(final List<SegmentWindow> windows, final long startNs, final long endNs) {
        final SegmentWindow last = windows.get(windows.size() - 1);
        final SegmentWindow.Builder sum = SegmentWindow.newBuilder().setNetwork(last.getNetwork()).setSegment(last.getSegment())
            .setStartNs(startNs).setEndNs(endNs).setFinal(true).setIsMapped(last.getIsMapped());
        if (last.hasDscp()) {
            sum.setDscp(last.getDscp());
        }
        final WindowDelay delay = new WindowDelay();
        int source = 0;
        for (final SegmentWindow window : windows) {
            sum.setPackets(sum.getPackets() + window.getPackets()).setSamples(sum.getSamples() + window.getSamples());
            sum.setIntervals(sum.getIntervals() + window.getIntervals());
            sum.setRecords(sum.getRecords() + window.getRecords());
            if (window.hasMissingIntervals()) {
                sum.setMissingIntervals(sum.getMissingIntervals() + window.getMissingIntervals());
            }
            if (window.hasMissingRecords()) {
                sum.setMissingRecords(sum.getMissingRecords() + window.getMissingRecords());
            }
            if (window.hasOctets()) {
                sum.setOctets(sum.getOctets() + window.getOctets());
            }
            sum.setIsFloorMoved(sum.getIsFloorMoved() || window.getIsFloorMoved());
            if (window.hasFloorNs()) {
                sum.setFloorNs(window.getFloorNs());
            }
            if (window.hasMeanNs() && window.getPackets() > 0) {
                delay.add(interval(window));
                source = Math.max(source, window.getSourceValue());
            }
        }
        if (delay.packets() > 0) {
            Known.set(delay, sum.setSource(Source.forNumber(source)));
        }
        addLoss(sum, windows);
        addHistogram(sum, windows);
        return sum.build();
    }

    private static IntervalDelay interval(final SegmentWindow window) {
        return new IntervalDelay(
            MeanSource.REFERENCES, window.getPackets(), window.getSamples(), window.getMeanNs(),
            window.hasDeviationNs() ? window.getDeviationNs() : Double.NaN,
            window.hasBoundNs() ? window.getBoundNs() : Double.NaN,
            window.hasClockBoundNs() ? window.getClockBoundNs() : Double.NaN,
            window.hasMinimumNs() && window.hasMaximumNs() ? window.getMinimumNs() : Double.NaN,
            window.hasMaximumNs() ? window.getMaximumNs() : Double.NaN);
    }

    private static void addLoss(final SegmentWindow.Builder sum, final List<SegmentWindow> windows) {
        if (windows.stream().allMatch(SegmentWindow::hasLost)) {
            sum.setLost(windows.stream().mapToLong(SegmentWindow::getLost).sum());
            sum.setLossKind(windows.stream().mapToInt(SegmentWindow::getLossKind).max().orElse(UPPER_BOUND));
        }
    }

    private void addHistogram(final SegmentWindow.Builder sum, final List<SegmentWindow> windows) {
        histogram.clear();
        for (final SegmentWindow window : windows) {
            if (window.getPackets() > 0) {
                final byte[] bytes = window.getHistogram().toByteArray();
                if (bytes.length == 0 || !ofWindow.decode(new UnsafeBuffer(bytes), 0, bytes.length)) {
                    return;
                }
                histogram.add(ofWindow);
            }
        }
        if (histogram.count() > 0) {
            sum.setHistogram(ByteString.copyFrom(
                octets.byteArray(), 0, histogram.encode(octets, 0, HISTOGRAM_LIMIT_BYTES)));
        }
    }
}

package io.flowlag.exporter.runtime.report;

import io.flowlag.ipfix.collect.CollectedRecord;
import io.flowlag.sketch.quantile.LogHistogram;

/**
 * What an options record says of the best delays of a traffic class in one measurement interval. Immutable, but for the
 * histogram, which the caller gave.
 *
 * @param dscp      of the class; {@link ReportSeries#ALL} for all packets.
 * @param startNs   since the UNIX epoch, as is the end.
 * @param samples   delays behind the mean.
 * @param boundNs   95 % error bound of the mean, without the precision of timestamps; null if unknown.
 * @param histogram of the delays, ns; empty if unknown.
 */
record ClassInterval(
    long segmentId, int dscp, long startNs, long endNs, long samples, long meanNs, Long boundNs, Long minimumNs, Long maximumNs,
    LogHistogram histogram) {
    private static final int ECN_BITS = 2;
    private static final String TIME = "observationTimeMilliseconds";

    /**
     * Reads a record.
     *
     * @param histogram to fill.
     * @return what it says; null if it is of something else. Only the best delays of a class have a histogram.
     */
    static ClassInterval of(final CollectedRecord record, final LogHistogram histogram) {
        final int delays = typed(record, "flowlagDelayHistogram");
        final int start = typed(record, TIME);
        final int samples = typed(record, "flowlagDelaySampleCount");
        final int mean = typed(record, "flowlagDelayMeanNanoseconds");
        final int end = start + 1;
        if (delays < 0 || start < 0 || samples < 0 || mean < 0 || end == record.fieldCount() || !record.isTyped(end) ||
            !TIME.equals(record.element(end).name())) {
            return null;
        }
        histogram.decode(record.buffer(), record.fieldOffset(delays), record.fieldLengthBytes(delays));
        final Long segmentId = unsigned(record, "flowlagSegmentId");
        final Long classOfService = unsigned(record, "ipClassOfService");
        return new ClassInterval(
            segmentId == null ? ReportSeries.NO_SEGMENT : segmentId,
            classOfService == null ? ReportSeries.ALL : (int)(classOfService >> ECN_BITS),
            record.timestampNs(start), record.timestampNs(end), record.unsigned(samples), record.signed(mean),
            unsigned(record, "flowlagDelayErrorBoundNanoseconds"), signed(record, "flowlagDelayMinimumNanoseconds"),
            signed(record, "flowlagDelayMaximumNanoseconds"), histogram);
    }

    private static Long unsigned(final CollectedRecord record, final String name) {
        final int index = typed(record, name);
        return index < 0 ? null : Long.valueOf(record.unsigned(index));
    }

    private static Long signed(final CollectedRecord record, final String name) {
        final int index = typed(record, name);
        return index < 0 ? null : Long.valueOf(record.signed(index));
    }

    private static int typed(final CollectedRecord record, final String name) {
        final int index = record.indexOf(name);
        return index >= 0 && record.isTyped(index) ? index : -1;
    }
}

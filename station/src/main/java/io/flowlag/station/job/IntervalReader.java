package io.flowlag.station.job;

import com.google.protobuf.ByteString;
import io.flowlag.ipfix.collect.CollectedRecord;
import io.flowlag.network.window.MeanSource;
import io.flowlag.station.job.state.SegmentInterval;

import java.util.Locale;
import java.util.function.LongConsumer;

/**
 * Reads the options records in which exporters summarise a class in a measurement interval (the records page has their elements).
 * One thread; allocates with each record.
 */
final class IntervalReader {
    private static final String TIME = "observationTimeMilliseconds";
    private static final int ECN_BITS = 2;
    private static final int HIGHEST_CLASS = 63;
    /** Exporters write less. */
    private static final int MOST_HISTOGRAM_BYTES = 1024;
    private static final String JOINT = "joint ";
    /** Estimators of a joint record's mean: 1 and 2 are references' estimates. */
    private static final int FIRST_SKETCH_ESTIMATOR = 3;

    private final Networks names;

    IntervalReader(final Networks names) {
        this.names = names;
    }

    /**
     * Reads an options record.
     *
     * @return null if it is none of a segment's interval, or one without a mean that may be used. Without packets that were
     *     measured in the interval, it has 0 packets and no delays.
     */
    SegmentInterval read(final CollectedRecord record) {
        final int idIndex = record.indexOf("flowlagSegmentId");
        final int nameIndex = record.indexOf("selectorName");
        final int startIndex = record.indexOf(TIME);
        final int meanIndex = record.indexOf("flowlagDelayMeanNanoseconds");
        if (idIndex < 0 || nameIndex < 0 || startIndex < 0 || meanIndex < 0 || !isTime(record, startIndex + 1)) {
            return null;
        }
        final MeanSource source = source(record.string(nameIndex), record);
        final long packets = unsigned(record, "packetDeltaCount");
        final long samples = unsigned(record, "flowlagDelaySampleCount");
        if (source == null || packets < 0 && samples < 0) {
            return null;
        }
        final String exporter = record.session().host();
        final long domain = Integer.toUnsignedLong(record.observationDomainId());
        final long id = record.unsigned(idIndex);
        final String mapped = names.find(exporter, domain, id, record.timestampNs(startIndex + 1));
        final SegmentInterval.Builder interval = SegmentInterval.newBuilder()
            .setSegment(mapped != null ? mapped : names.unmapped(exporter, domain, id)).setIsMapped(mapped != null)
            .setStartNs(record.timestampNs(startIndex)).setEndNs(record.timestampNs(startIndex + 1))
            .setSource(source.ordinal()).setMeanNs(record.signed(meanIndex))
            .setPackets(Math.max(packets, samples)).setSamples(samples < 0 ? Math.max(packets, 1) : samples);
        if (interval.getEndNs() <= interval.getStartNs()) {
            return null;
        }
        final int dscp = record.indexOf("ipClassOfService");
        if (dscp >= 0) {
            interval.setDscp((int)record.unsigned(dscp) >> ECN_BITS & HIGHEST_CLASS);
        }
        if (samples == 0 || packets == 0) {
            return interval.clearMeanNs().setPackets(0).setSamples(0).build();
        }
        quality(record, interval);
        return interval.build();
    }

    private static void quality(final CollectedRecord record, final SegmentInterval.Builder interval) {
        set(record, "flowlagDelayStandardDeviationNanoseconds", interval::setDeviationNs);
        set(record, "flowlagDelayErrorBoundNanoseconds", interval::setBoundNs);
        set(record, "flowlagClockErrorBoundNanoseconds", interval::setClockBoundNs);
        set(record, "flowlagLostPacketDeltaCount", interval::setLost);
        final int minimum = record.indexOf("flowlagDelayMinimumNanoseconds");
        final int maximum = record.indexOf("flowlagDelayMaximumNanoseconds");
        if (minimum >= 0 && maximum >= 0) {
            interval.setMinimumNs(record.signed(minimum)).setMaximumNs(record.signed(maximum));
        }
        final int histogram = record.indexOf("flowlagDelayHistogram");
        if (histogram >= 0 && record.fieldLengthBytes(histogram) <= MOST_HISTOGRAM_BYTES) {
            final byte[] octets = new byte[record.fieldLengthBytes(histogram)];
            record.buffer().getBytes(record.fieldOffset(histogram), octets);
            interval.setHistogram(ByteString.copyFrom(octets));
        }
    }

    private static void set(final CollectedRecord record, final String name, final LongConsumer setter) {
        final int index = record.indexOf(name);
        if (index >= 0) {
            setter.accept(record.unsigned(index));
        }
    }

    /** Of an element that is not known, a record has none. */
    private static boolean isTime(final CollectedRecord record, final int index) {
        return index < record.fieldCount() && record.element(index) != null && TIME.equals(record.element(index).name());
    }

    private static long unsigned(final CollectedRecord record, final String name) {
        final int index = record.indexOf(name);
        return index < 0 ? -1 : record.unsigned(index);
    }

    /** The source that an exporter's name of the record means, or null. */
    private static MeanSource source(final String name, final CollectedRecord record) {
        if (name.startsWith(JOINT)) {
            return unsigned(record, "flowlagDelayEstimator") >= FIRST_SKETCH_ESTIMATOR ? MeanSource.JOINT : MeanSource.ESTIMATES;
        }
        return switch (name.toLowerCase(Locale.ROOT)) {
            case "matched" -> MeanSource.EXACT;
            case "reconciled" -> MeanSource.RECONCILED;
            case "aggregator" -> MeanSource.AGGREGATOR;
            case "estimates" -> MeanSource.ESTIMATES;
            case "references" -> MeanSource.REFERENCES;
            default -> null;
        };
    }
}

package io.flowlag.exporter.runtime.collect;

import io.flowlag.common.config.Prefix;
import io.flowlag.exporter.listing.FlowRow;
import io.flowlag.exporter.listing.RowDelay;
import io.flowlag.exporter.listing.RowKey;
import io.flowlag.exporter.listing.RowLoss;
import io.flowlag.exporter.listing.RowSpread;
import io.flowlag.exporter.listing.RowTcp;
import io.flowlag.exporter.listing.RowTraffic;
import io.flowlag.ipfix.collect.CollectedRecord;

import java.util.concurrent.TimeUnit;

/** Reads rows from flow records, by the names of their elements. One thread; allocates with each. */
final class RecordRows {
    private static final int IPV4_BITS = 32;
    private static final int IPV6_BITS = 128;
    private static final int ECN_BITS = 2;
    private static final int UPPER_BOUND = 2;
    private static final String MEAN = "flowlagDelayMeanNanoseconds";

    private final RecordNames.Cache namesCache = new RecordNames.Cache();
    private CollectedRecord record;
    private RecordNames names;

    FlowRow of(final CollectedRecord collected) {
        record = collected;
        names = namesCache.of(collected);
        final FlowTimes times = FlowTimes.of(record, names);
        final Long classOfService = unsigned("ipClassOfService");
        final Long dscp = unsigned("ipDiffServCodePoint");
        return new FlowRow(
            new RowKey(
                address("sourceIPv4Address", "sourceIPv6Address"), address("destinationIPv4Address", "destinationIPv6Address"),
                number("protocolIdentifier"), number("sourceTransportPort"), number("destinationTransportPort"),
                dscp != null ? dscp.intValue() : classOfService != null ? (int)(classOfService >> ECN_BITS) : RowKey.NONE,
                number("flowlagSegmentId")),
            new RowTraffic(
                1, unsigned("packetDeltaCount", "packetTotalCount"), unsigned("octetDeltaCount", "octetTotalCount"),
                times.hasStart() ? times.startNs() : null, times.hasDuration() ? times.durationNs() : null,
                Math.max(0, number("flowEndReason"))),
            delay(), loss(), tcp());
    }

    private RowTcp tcp() {
        return new RowTcp(
            unsigned("flowlagTcpHandshakeNanoseconds"), unsigned("flowlagTcpSynRoundTripNanoseconds"),
            unsigned("flowlagTcpRoundTripDeltaCount"), unsigned("flowlagTcpRoundTripMeanNanoseconds"),
            unsigned("flowlagTcpRoundTripMinimumNanoseconds"), unsigned("flowlagTcpRoundTripMaximumNanoseconds"),
            unsigned("flowlagTcpRetransmittedPacketDeltaCount"), unsigned("flowlagTcpRetransmittedOctetDeltaCount"),
            unsigned("flowlagTcpOutOfOrderPacketDeltaCount"), unsigned("flowlagTcpZeroWindowPacketDeltaCount"));
    }

    private RowDelay delay() {
        final Long meanNs = orMicros(signed(MEAN), "pathDelayMeanDeltaMicroseconds");
        final Long minimumNs = orMicros(signed("flowlagDelayMinimumNanoseconds"), "pathDelayMinDeltaMicroseconds");
        final Long maximumNs = orMicros(signed("flowlagDelayMaximumNanoseconds"), "pathDelayMaxDeltaMicroseconds");
        return new RowDelay(
            meanNs, unsigned("flowlagDelayPacketDeltaCount"), unsigned("flowlagDelayErrorBoundNanoseconds"), false,
            Math.max(0, number("flowlagDelayEstimator")),
            new RowSpread(unsigned("flowlagDelayStandardDeviationNanoseconds"), minimumNs, signed("flowlagDelayP50Nanoseconds"),
                signed("flowlagDelayP90Nanoseconds"), signed("flowlagDelayP99Nanoseconds"), maximumNs),
            signed("flowlagDelayInterpolatedMeanNanoseconds"), signed("flowlagDelaySketchMeanNanoseconds"));
    }

    private RowLoss loss() {
        final Long lost = unsigned("flowlagLostPacketDeltaCount");
        return lost == null ? RowLoss.UNKNOWN : new RowLoss(lost, number("flowlagLossKind") != UPPER_BOUND);
    }

    private Prefix address(final String ipv4Name, final String ipv6Name) {
        final int ipv4 = typed(ipv4Name);
        final int ipv6 = typed(ipv6Name);
        return ipv4 >= 0 ? new Prefix(false, 0, record.ipv4Address(ipv4) & 0xFFFF_FFFFL, IPV4_BITS) :
            ipv6 >= 0 ? new Prefix(true, record.ipv6High(ipv6), record.ipv6Low(ipv6), IPV6_BITS) : null;
    }

    private int number(final String name) {
        final Long value = unsigned(name);
        return value == null ? RowKey.NONE : value.intValue();
    }

    private Long unsigned(final String... elementNames) {
        for (final String name : elementNames) {
            final int index = typed(name);
            if (index >= 0) {
                return record.unsigned(index);
            }
        }
        return null;
    }

    private Long signed(final String name) {
        final int index = typed(name);
        return index < 0 ? null : Long.valueOf(record.signed(index));
    }

    private Long orMicros(final Long valueNs, final String name) {
        final Long valueUs = valueNs == null ? unsigned(name) : null;
        return valueUs == null ? valueNs : Long.valueOf(TimeUnit.MICROSECONDS.toNanos(valueUs));
    }

    private int typed(final String name) {
        final int index = names.indexOf(name);
        return index >= 0 && record.isTyped(index) ? index : -1;
    }
}

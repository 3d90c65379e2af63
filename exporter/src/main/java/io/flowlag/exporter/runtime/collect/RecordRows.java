package io.flowlag.exporter.runtime.collect;

import io.flowlag.common.config.Prefix;
import io.flowlag.exporter.listing.FlowRow;
import io.flowlag.exporter.listing.RowDelay;
import io.flowlag.exporter.listing.RowKey;
import io.flowlag.exporter.listing.RowLoss;
import io.flowlag.exporter.listing.RowSample;
import io.flowlag.exporter.listing.RowSpread;
import io.flowlag.exporter.listing.RowTcp;
import io.flowlag.exporter.listing.RowTraffic;
import io.flowlag.ipfix.collect.CollectedRecord;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * Reads rows from flow records, by the names of their elements, and from options records how packets were sampled. Where an
 * Observation Domain has several selectors that differ, it is not known which one a record is of. One thread; allocates with
 * each.
 */
public final class RecordRows {
    private static final int IPV4_BITS = 32;
    private static final int IPV6_BITS = 128;
    private static final int ECN_BITS = 2;
    private static final int UPPER_BOUND = 2;
    private static final String MEAN = "flowlagDelayMeanNanoseconds";

    /** Bound of the Observation Domains with sampling in memory: senders choose them. */
    private static final int MOST_DOMAINS = 1024;

    private final RecordNames.Cache namesCache = new RecordNames.Cache();
    private final Map<String, Selector> selectors = new HashMap<>();
    private CollectedRecord record;
    private RecordNames names;

    /** How packets of an Observation Domain were sampled: one in so many, NaN if selectors differ. */
    private record Selector(Long id, double onePacketIn) {
    }

    /** Takes what an options record says of sampling. */
    public void learn(final CollectedRecord options) {
        record = options;
        names = namesCache.of(options);
        final Long taken = unsigned("samplingPacketInterval");
        final Long leftOut = unsigned("samplingPacketSpace");
        final Long interval = unsigned("samplingInterval", "samplerRandomInterval");
        if (interval == null && (taken == null || leftOut == null || taken == 0)) {
            return;
        }
        final Selector selector = new Selector(unsigned("selectorId", "samplerId"),
            interval != null ? Math.max(1, interval) : 1 + (double)leftOut / taken);
        final Selector known = selectors.get(domain(options));
        final boolean isAnother = known != null && (Double.isNaN(known.onePacketIn) ||
            !Objects.equals(known.id, selector.id) && known.onePacketIn != selector.onePacketIn);
        if (known != null || selectors.size() < MOST_DOMAINS) {
            selectors.put(domain(options), isAnother ? new Selector(known.id, Double.NaN) : selector);
        }
    }

    private static String domain(final CollectedRecord of) {
        return of.session().peer() + ' ' + of.observationDomainId();
    }

    private RowSample sample(final Long packets) {
        final Selector selector = selectors.isEmpty() || packets == null ? null : selectors.get(domain(record));
        return selector == null || !(selector.onePacketIn > 1) ? null : RowSample.of(packets, selector.onePacketIn);
    }

    /** {@return the row of a flow record, and that of a biflow's other direction} */
    public List<FlowRow> of(final CollectedRecord collected) {
        record = collected;
        names = namesCache.of(collected);
        final FlowRow row = row();
        names = names.reverse();
        return names == null ? List.of(row) : List.of(row, row());
    }

    private FlowRow row() {
        final FlowTimes times = FlowTimes.of(record, names);
        final Long packets = unsigned("packetDeltaCount", "packetTotalCount");
        final Long classOfService = unsigned("ipClassOfService");
        final Long dscp = unsigned("ipDiffServCodePoint");
        return new FlowRow(
            new RowKey(
                address("sourceIPv4Address", "sourceIPv6Address"), address("destinationIPv4Address", "destinationIPv6Address"),
                number("protocolIdentifier"), number("sourceTransportPort"), number("destinationTransportPort"),
                dscp != null ? dscp.intValue() : classOfService != null ? (int)(classOfService >> ECN_BITS) : RowKey.NONE,
                number("flowlagSegmentId")),
            new RowTraffic(
                1, packets, unsigned("octetDeltaCount", "octetTotalCount"),
                times.hasStart() ? times.startNs() : null, times.hasDuration() ? times.durationNs() : null,
                Math.max(0, number("flowEndReason")), sample(packets)),
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

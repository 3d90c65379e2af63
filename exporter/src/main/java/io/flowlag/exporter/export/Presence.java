package io.flowlag.exporter.export;

import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.FlowQuantiles;
import io.flowlag.exporter.flow.FlowAdditions;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.flow.FlowTcp;
import io.flowlag.rli.counters.DelayCounters;
import org.agrona.DirectBuffer;

/**
 * The groups of elements in a flow record. A value that was not measured, or that its element cannot carry, is absent, never 0.
 * The groups form a small number that selects the template. Stateless.
 */
final class Presence {
    /** Addresses are IPv6; IPv4 without it. */
    static final int IPV6 = 1;
    /** ICMP type and code. */
    static final int ICMP = 1 << 1;
    static final int VLAN = 1 << 2;
    /** Per-packet delays by the mean's estimator, for smallest and largest. */
    static final int DELAY = 1 << 3;
    /** The mean delay fits an unsigned 32-bit number of microseconds. */
    static final int MEAN_US = 1 << 4;
    /** The smallest delay fits. */
    static final int MINIMUM_US = 1 << 5;
    /** The largest delay fits. */
    static final int MAXIMUM_US = 1 << 6;
    /** The mean covers every packet, and the sum is not negative. */
    static final int SUM_US = 1 << 7;
    /** The error bound of the mean. */
    static final int BOUND = 1 << 8;
    /** The error of the clocks. */
    static final int CLOCK = 1 << 9;
    static final int SEGMENT = 1 << 10;
    /** The mean by references alone, where another estimator is better. */
    static final int INTERPOLATED = 1 << 11;
    /** Lost and unexpected packets. */
    static final int LOSS = 1 << 12;
    /** Unexpected packets are known, not only lost ones. */
    static final int UNEXPECTED = 1 << 13;
    /** A mean with its estimator. */
    static final int MEAN = 1 << 14;
    static final int DEVIATION = 1 << 15;
    /** The mean by sketches alone. */
    static final int SKETCH = 1 << 16;
    /** The median; further quantiles follow with the next bits. */
    static final int P50 = 1 << 17;
    /** The 90th percentile. */
    static final int P90 = 1 << 18;
    /** The 95th percentile. */
    static final int P95 = 1 << 19;
    /** The 99th percentile. */
    static final int P99 = 1 << 20;
    /** The 99.9th percentile, and the variation. */
    static final int P999 = 1 << 21;
    /** Per-packet delays by references or, without those, by matching, for their count and sums. */
    static final int SAMPLES = 1 << 22;
    /** The clock offset that was taken out of the delays. */
    static final int CORRECTED = 1 << 23;
    /** The error of the quantiles, which are of sampled packets. */
    static final int QUANTILE_ERROR = 1 << 24;
    /** Sequence numbers of TCP were followed. */
    static final int TCP = 1 << 25;
    /** The time of the handshake. */
    static final int TCP_HANDSHAKE = 1 << 26;
    /** The round trip of the SYN. */
    static final int TCP_SYN = 1 << 27;
    /** Round trips of data. */
    static final int TCP_ROUND_TRIP = 1 << 28;
    /** MAC addresses. */
    static final int MAC = 1 << 29;
    /** The other direction follows. */
    static final int BIFLOW = 1 << 30;
    /** All of them. */
    static final int ALL = BIFLOW | BIFLOW - 1;

    private static final int PROTOCOL_ICMP = 1;
    private static final int PROTOCOL_ICMPV6 = 58;
    private static final long MAX_UNSIGNED_32 = 0xFFFF_FFFFL;

    private Presence() {
    }

    /** The groups of a flow; with delay counters it is longer than the base. Returns a sum of the constants above. */
    static int maskOf(final DirectBuffer entry, final int offset, final int lengthBytes) {
        final boolean isIpv6 = FlowEntry.ipVersion(entry, offset) == 6;
        final int protocol = FlowEntry.protocol(entry, offset);
        int mask = isIpv6 ? IPV6 : 0;
        if (protocol == (isIpv6 ? PROTOCOL_ICMPV6 : PROTOCOL_ICMP)) {
            mask |= ICMP;
        }
        if ((FlowEntry.flags(entry, offset) & FlowEntry.FLAG_VLAN) != 0) {
            mask |= VLAN;
        }
        final boolean hasAdditions = FlowEntry.additions(entry, offset) != FlowAdditions.NONE;
        if (hasAdditions) {
            mask |= additionsMaskOf(entry, offset, lengthBytes);
        }
        return FlowDelay.isPresent(hasAdditions ? FlowAdditions.lengthBefore(entry, offset, lengthBytes) : lengthBytes) ?
            mask | delayMaskOf(entry, offset, offset + FlowEntry.BASE_LENGTH_BYTES) : mask;
    }

    private static int additionsMaskOf(final DirectBuffer entry, final int offset, final int lengthBytes) {
        final int mask = (FlowAdditions.knownMac(entry, offset, lengthBytes) >= 0 ? MAC : 0) |
            (FlowEntry.isOfBiflow(entry, offset) ? BIFLOW : 0);
        final int tcpOffset = FlowAdditions.knownTcp(entry, offset, lengthBytes);
        return tcpOffset < 0 ? mask : mask | TCP | (FlowTcp.has(entry, tcpOffset, FlowTcp.FLAG_HANDSHAKE) ? TCP_HANDSHAKE : 0) |
            (FlowTcp.has(entry, tcpOffset, FlowTcp.FLAG_SYN_ROUND_TRIP) ? TCP_SYN : 0) |
            (FlowTcp.roundTrips(entry, tcpOffset) > 0 ? TCP_ROUND_TRIP : 0);
    }

    /** Nanoseconds, 0 or more, to microseconds, rounded half up. */
    static long toMicros(final long ns) {
        return (ns + 500) / 1000;
    }

    private static int delayMaskOf(final DirectBuffer entry, final int offset, final int flowDelayOffset) {
        final int mask =
            (FlowDelay.has(entry, flowDelayOffset, FlowDelay.FLAG_SEGMENT) ? SEGMENT : 0) |
            (FlowDelay.has(entry, flowDelayOffset, FlowDelay.FLAG_CLOCK_ERROR) ? CLOCK : 0) |
            (FlowDelay.has(entry, flowDelayOffset, FlowDelay.FLAG_CLOCK_CORRECTED) ? CORRECTED : 0) |
            (FlowDelay.has(entry, flowDelayOffset, FlowDelay.FLAG_LOSS) ? LOSS : 0) |
            (FlowDelay.has(entry, flowDelayOffset, FlowDelay.FLAG_UNEXPECTED) ? UNEXPECTED : 0) |
            (FlowDelay.has(entry, flowDelayOffset, FlowDelay.FLAG_SKETCH) ? SKETCH : 0);
        final int estimator = FlowDelay.estimator(entry, flowDelayOffset);
        if (estimator == 0) {
            return mask;
        }
        final int delayOffset = FlowDelay.bestOffset(entry, flowDelayOffset);
        final long meanPackets = FlowDelay.meanPackets(entry, flowDelayOffset);
        final long sampleCount = DelayCounters.count(entry, delayOffset);
        final boolean isMatched = estimator == FlowDelay.ESTIMATOR_MATCHED;
        if (meanPackets == 0 && !(isMatched && sampleCount > 0)) {
            return mask;
        }
        final boolean isBounded = FlowDelay.has(entry, flowDelayOffset, FlowDelay.FLAG_ERROR_BOUND);
        final boolean isComplete = meanPackets == FlowEntry.packetCount(entry, offset);
        final boolean isInterpolated = FlowDelay.isInterpolated(entry, flowDelayOffset);
        final long meanNs = FlowDelay.meanNs(entry, flowDelayOffset);
        return mask | MEAN | (isBounded ? BOUND : 0) | (fitsMicros(meanNs) ? MEAN_US : 0) |
            (!isInterpolated && DelayCounters.count(entry, flowDelayOffset) > 0 ? INTERPOLATED : 0) |
            (isComplete && (isMatched || isInterpolated ? DelayCounters.sumNs(entry, delayOffset) : meanNs) >= 0 ? SUM_US : 0) |
            (hasDeviation(entry, flowDelayOffset, estimator, sampleCount) ? DEVIATION : 0) |
            (DelayCounters.count(entry, FlowDelay.samplesOffset(entry, flowDelayOffset)) > 0 ? SAMPLES : 0) |
            (sampleCount > 0 ? quantileMaskOf(entry, flowDelayOffset) : 0) |
            (sampleCount > 0 && (isMatched || isInterpolated) ? extremesMaskOf(entry, delayOffset) : 0);
    }

    /** The deviation is of the mean's own estimator, or absent. */
    private static boolean hasDeviation(
        final DirectBuffer entry, final int flowDelayOffset, final int estimator, final long sampleCount) {
        return switch (estimator) {
            case FlowDelay.ESTIMATOR_SKETCH -> FlowDelay.has(entry, flowDelayOffset, FlowDelay.FLAG_SKETCH_DEVIATION);
            case FlowDelay.ESTIMATOR_JOINT, FlowDelay.ESTIMATOR_FLOW_SUMS -> false;
            default -> sampleCount > 1;
        };
    }

    /** Sums and cells know no single delay: those of the references beside them would be another estimator's. */
    private static int extremesMaskOf(final DirectBuffer entry, final int delayOffset) {
        return DELAY | (fitsMicros(DelayCounters.minimumNs(entry, delayOffset)) ? MINIMUM_US : 0) |
            (fitsMicros(DelayCounters.maximumNs(entry, delayOffset)) ? MAXIMUM_US : 0);
    }

    private static int quantileMaskOf(final DirectBuffer entry, final int flowDelayOffset) {
        final int offset = FlowDelay.quantilesOffset(flowDelayOffset);
        return ((1 << FlowQuantiles.groups(entry, offset)) - 1) * P50 |
            (FlowQuantiles.errorPpm(entry, offset) > 0 ? QUANTILE_ERROR : 0);
    }

    private static boolean fitsMicros(final long delayNs) {
        return delayNs >= 0 && toMicros(delayNs) <= MAX_UNSIGNED_32;
    }
}

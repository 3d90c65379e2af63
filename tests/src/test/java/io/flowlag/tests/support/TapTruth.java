package io.flowlag.tests.support;

import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.file.CaptureFileSource;
import io.flowlag.exporter.capture.file.CaptureFiles;
import org.agrona.DirectBuffer;

import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What really happened to each flow of a {@link WindowedTraffic} or {@link SegmentTraffic} between two taps: every packet matched
 * by the number that it carries, one of TCP by its IPv4 identification and sequence number. Knows nothing of digests, sketches or
 * intervals of the product.
 */
public final class TapTruth {
    private static final int ADDRESSES_OFFSET = 14 + 12;
    private static final int PORTS_OFFSET = 14 + 20;
    private static final int NUMBER_OFFSET = PORTS_OFFSET + 8;
    private static final int IDENTIFICATION_OFFSET = 14 + 4;
    private static final int PROTOCOL_OFFSET = 14 + 9;
    private static final int SEQUENCE_OFFSET = PORTS_OFFSET + 4;
    private static final int TCP = 6;
    private static final int UDP = 17;
    private static final int LEAST_BYTES = NUMBER_OFFSET + 8;
    private static final int POLL_LIMIT = 256;

    private final Map<String, Flow> flows = new HashMap<>();
    private final TreeMap<Long, Set<String>> alive = new TreeMap<>();
    private final long intervalNs;
    private long unexpectedPackets;

    /** One flow. */
    public static final class Flow {
        private final Map<Long, Long> sentNs = new HashMap<>();
        private long sent;
        private long received;
        private double delaySumNs;
        private long leastNs = Long.MAX_VALUE;
        private long mostNs = Long.MIN_VALUE;

        /** {@return packets sent} */
        public long sent() {
            return sent;
        }

        /** {@return packets that arrived} */
        public long received() {
            return received;
        }

        /** {@return packets that did not arrive} */
        public long lost() {
            return sent - received;
        }

        /** {@return mean delay, ns, of those that arrived} */
        public double meanNs() {
            return delaySumNs / received;
        }

        /** {@return shortest delay, ns} */
        public long leastNs() {
            return leastNs;
        }

        /** {@return longest delay, ns} */
        public long mostNs() {
            return mostNs;
        }
    }

    private interface Sighting {
        void onPacket(String key, long number, long timestampNs);
    }

    /**
     * Matches the packets of two captures.
     *
     * @param sent       at the sender point.
     * @param arrived    at the receiver point.
     * @param intervalNs by which it is told how many flows are alive.
     */
    public TapTruth(final Path sent, final Path arrived, final long intervalNs) {
        this.intervalNs = intervalNs;
        read(sent, this::onSent);
        read(arrived, this::onArrived);
    }

    private void onSent(final String key, final long number, final long timestampNs) {
        final Flow flow = flows.computeIfAbsent(key, unused -> new Flow());
        flow.sent++;
        if (flow.sentNs.put(number, timestampNs) != null) {
            throw new AssertionError("number " + number + " of " + key + " was sent twice");
        }
        alive.computeIfAbsent(timestampNs / intervalNs, unused -> new HashSet<>()).add(key);
    }

    private void onArrived(final String key, final long number, final long timestampNs) {
        final Flow flow = flows.get(key);
        final Long sentNs = flow == null ? null : flow.sentNs.remove(number);
        if (sentNs == null) {
            unexpectedPackets++;
            return;
        }
        final long delayNs = timestampNs - sentNs;
        flow.received++;
        flow.delaySumNs += delayNs;
        flow.leastNs = Math.min(flow.leastNs, delayNs);
        flow.mostNs = Math.max(flow.mostNs, delayNs);
    }

    private static void read(final Path capture, final Sighting sighting) {
        final PacketHandler handler = (buffer, offset, capturedBytes, wireBytes, timestampNs, linkType, interfaceId, vlanTag) -> {
            final int protocol = buffer.getByte(offset + PROTOCOL_OFFSET);
            if (capturedBytes >= LEAST_BYTES && (protocol == UDP || protocol == TCP)) {
                sighting.onPacket(key(buffer, offset, protocol), number(buffer, offset, protocol), timestampNs);
            }
        };
        try (CaptureFileSource source = CaptureFiles.open(List.of(capture.toString()), FilterSupplier.ALL)) {
            int polled = 0;
            while (polled >= 0) {
                polled = source.poll(handler, POLL_LIMIT);
            }
        }
    }

    private static long number(final DirectBuffer buffer, final int offset, final int protocol) {
        return protocol == UDP ? buffer.getLong(offset + NUMBER_OFFSET, ByteOrder.BIG_ENDIAN) :
            (long)buffer.getShort(offset + IDENTIFICATION_OFFSET, ByteOrder.BIG_ENDIAN) << Integer.SIZE |
            buffer.getInt(offset + SEQUENCE_OFFSET, ByteOrder.BIG_ENDIAN) & 0xFFFF_FFFFL;
    }

    private static String key(final DirectBuffer buffer, final int offset, final int protocol) {
        return address(buffer, offset + ADDRESSES_OFFSET) + "," + address(buffer, offset + ADDRESSES_OFFSET + 4) + "," +
            protocol + "," + port(buffer, offset + PORTS_OFFSET) + "," + port(buffer, offset + PORTS_OFFSET + 2);
    }

    private static String address(final DirectBuffer buffer, final int offset) {
        return (buffer.getByte(offset) & 0xFF) + "." + (buffer.getByte(offset + 1) & 0xFF) + "." +
            (buffer.getByte(offset + 2) & 0xFF) + "." + (buffer.getByte(offset + 3) & 0xFF);
    }

    private static int port(final DirectBuffer buffer, final int offset) {
        return buffer.getShort(offset, ByteOrder.BIG_ENDIAN) & 0xFFFF;
    }

    /**
     * A flow.
     *
     * @param key as in {@link DelayFlow#key}.
     * @return the flow, or null if it was not sent.
     */
    public Flow flow(final String key) {
        return flows.get(key);
    }

    /** {@return all flows} */
    public Collection<Flow> flows() {
        return flows.values();
    }

    /** {@return packets that arrived and were not sent, or twice} */
    public long unexpectedPackets() {
        return unexpectedPackets;
    }

    /** {@return packets that did not arrive} */
    public long lostPackets() {
        return flows.values().stream().mapToLong(Flow::lost).sum();
    }

    /** {@return packets sent} */
    public long sentPackets() {
        return flows.values().stream().mapToLong(Flow::sent).sum();
    }

    /** {@return mean delay, ns, of all packets that arrived} */
    public double meanNs() {
        return flows.values().stream().mapToDouble(flow -> flow.delaySumNs).sum() /
            flows.values().stream().mapToLong(Flow::received).sum();
    }

    /** {@return longest delay, ns, of any packet} */
    public long mostNs() {
        return flows.values().stream().mapToLong(Flow::mostNs).max().orElse(0);
    }

    /**
     * Flows that sent a packet in an interval, over all intervals but the first and the last.
     *
     * @param share of the intervals that have fewer.
     * @return flows.
     */
    public int alive(final double share) {
        final int[] counts = alive.subMap(alive.firstKey(), false, alive.lastKey(), false).values().stream()
            .mapToInt(Set::size).sorted().toArray();
        return counts.length == 0 ? 0 : counts[(int) Math.min(counts.length - 1, share * counts.length)];
    }
}

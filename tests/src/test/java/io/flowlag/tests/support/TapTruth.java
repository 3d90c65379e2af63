package io.flowlag.tests.support;

import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.file.CaptureFileSource;
import io.flowlag.exporter.capture.file.CaptureFiles;
import org.agrona.DirectBuffer;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.UnaryOperator;

/**
 * What really happened to each flow of a {@link WindowedTraffic} or {@link SegmentTraffic} between two taps. Packets are matched
 * by the number that they carry; those of TCP by IPv4 identification and all captured octets from the TCP header on, without the
 * checksum. Uses no digests, sketches or intervals of the product.
 *
 * <p>Segments of TCP may be identical: a closed connection answers without a socket, and so without an identification of its own.
 * Where fewer of them arrived than were sent, the lost ones are unknown, so the mean delay is known only within bounds.
 */
public final class TapTruth {
    private static final int ADDRESSES_OFFSET = 14 + 12;
    private static final int PORTS_OFFSET = 14 + 20;
    private static final int NUMBER_OFFSET = PORTS_OFFSET + 8;
    private static final int IDENTIFICATION_OFFSET = 14 + 4;
    private static final int PROTOCOL_OFFSET = 14 + 9;
    private static final int CHECKSUM_OFFSET = PORTS_OFFSET + 16;
    /** No packet is so long on its way. */
    private static final long LONGEST_NS = 500_000_000L;
    private static final int TCP = 6;
    private static final int UDP = 17;
    private static final int LEAST_BYTES = NUMBER_OFFSET + 8;
    private static final int POLL_LIMIT = 256;

    private final Map<String, Flow> flows = new HashMap<>();
    private final TreeMap<Long, Set<String>> alive = new TreeMap<>();
    private final long intervalNs;
    private long unexpectedPackets;

    /** Indistinguishable packets; nearly always one. */
    private static final class Twins {
        private final List<Long> sentNs = new ArrayList<>(1);
        private final List<Long> arrivedNs = new ArrayList<>(1);
    }

    /** One flow. */
    public static final class Flow {
        private final Map<Object, Twins> packets = new HashMap<>();
        private long sent;
        private long received;
        private double delaySumNs;
        private double ambiguousNs;
        private boolean hasLostTwin;
        private long leastNs = Long.MAX_VALUE;
        private long mostNs = Long.MIN_VALUE;
        private long newestArrivedNs = Long.MIN_VALUE / 2;

        /** Counts what arrived, each for the packet that was sent first; or last, to see how much that changes. */
        private void settle(final Twins twins) {
            final int arrived = twins.arrivedNs.size();
            received += arrived;
            final int missing = twins.sentNs.size() - arrived;
            hasLostTwin |= arrived > 0 && missing > 0;
            int first = 0;
            int last = twins.sentNs.size() - 1;
            for (int i = 0; i < arrived; i++) {
                while (first < i + missing && twins.arrivedNs.get(i) - twins.sentNs.get(first) > LONGEST_NS) {
                    first++;
                }
                final long delayNs = twins.arrivedNs.get(i) - twins.sentNs.get(first);
                delaySumNs += delayNs;
                ambiguousNs += delayNs;
                leastNs = Math.min(leastNs, delayNs);
                mostNs = Math.max(mostNs, delayNs);
                newestArrivedNs = Math.max(newestArrivedNs, twins.arrivedNs.get(i));
                first++;
            }
            for (int i = arrived - 1; i >= 0; i--) {
                while (last > i && twins.sentNs.get(last) > twins.arrivedNs.get(i)) {
                    last--;
                }
                ambiguousNs -= twins.arrivedNs.get(i) - twins.sentNs.get(last);
                last--;
            }
        }

        /** {@return packets sent} */
        public long sent() {
            return sent;
        }

        /** {@return packets that arrived} */
        public long received() {
            return received;
        }

        /** {@return packets that arrived until a time, ns since 1970} */
        public long receivedUntil(final long timeNs) {
            return packets.values().stream().flatMap(each -> each.arrivedNs.stream()).filter(ns -> ns <= timeNs).count();
        }

        /** {@return packets that did not arrive} */
        public long lost() {
            return sent - received;
        }

        /**
         * Packets that were lost behind all others.
         *
         * @param silenceNs since the last packet of the flow that arrived, at the least.
         * @return packets.
         */
        public long lostAfter(final long silenceNs) {
            return packets.values().stream().flatMap(each -> each.sentNs.stream())
                .filter(sentNs -> sentNs - newestArrivedNs > silenceNs).count();
        }

        /** {@return mean delay, ns, of those that arrived; the largest that it may be} */
        public double meanNs() {
            return delaySumNs / received;
        }

        /** {@return ambiguity of the mean towards smaller values, ns, because indistinguishable packets were lost} */
        public double ambiguousNs() {
            return ambiguousNs / received;
        }

        /** {@return whether indistinguishable packets were sent and only some of them arrived} */
        public boolean hasLostTwin() {
            return hasLostTwin;
        }

        /** {@return shortest delay, ns} */
        public long leastNs() {
            return leastNs;
        }

        /** {@return longest delay, ns} */
        public long mostNs() {
            return mostNs;
        }

        @Override
        public String toString() {
            return String.format(Locale.ROOT, "sent %d, received %d, mean %.0f ns, less %.0f ns at the most%s", sent, received,
                meanNs(), ambiguousNs(), hasLostTwin ? ", a twin was lost" : "");
        }
    }

    private interface Sighting {
        void onPacket(String key, Object content, long timestampNs);
    }

    /**
     * Matches the packets of two captures.
     *
     * @param sent       at the sender point.
     * @param arrived    at the receiver point.
     * @param intervalNs for counting live flows.
     */
    public TapTruth(final Path sent, final Path arrived, final long intervalNs) {
        this(sent, arrived, intervalNs, UnaryOperator.identity());
    }

    /**
     * Matches the packets of two captures.
     *
     * @param sent       at the sender point.
     * @param arrived    at the receiver point.
     * @param intervalNs for counting live flows.
     * @param translated the key that a flow has at the receiver point.
     */
    public TapTruth(final Path sent, final Path arrived, final long intervalNs, final UnaryOperator<String> translated) {
        this.intervalNs = intervalNs;
        read(sent, (key, content, timestampNs) -> onSent(translated.apply(key), content, timestampNs));
        read(arrived, this::onArrived);
        flows.values().forEach(flow -> flow.packets.values().forEach(flow::settle));
    }

    private void onSent(final String key, final Object content, final long timestampNs) {
        final Flow flow = flows.computeIfAbsent(key, unused -> new Flow());
        flow.sent++;
        final Twins twins = flow.packets.computeIfAbsent(content, unused -> new Twins());
        twins.sentNs.add(timestampNs);
        if (twins.sentNs.size() > 1 && content instanceof Long) {
            throw new AssertionError("number " + content + " of " + key + " was sent twice");
        }
        alive.computeIfAbsent(timestampNs / intervalNs, unused -> new HashSet<>()).add(key);
    }

    private void onArrived(final String key, final Object content, final long timestampNs) {
        final Flow flow = flows.get(key);
        final Twins twins = flow == null ? null : flow.packets.get(content);
        if (twins == null || twins.arrivedNs.size() == twins.sentNs.size()) {
            unexpectedPackets++;
        } else {
            twins.arrivedNs.add(timestampNs);
        }
    }

    private static void read(final Path capture, final Sighting sighting) {
        final PacketHandler handler = packet -> {
            final int protocol = packet.buffer().getByte(packet.offset() + PROTOCOL_OFFSET);
            if (packet.capturedLengthBytes() >= LEAST_BYTES && (protocol == UDP || protocol == TCP)) {
                sighting.onPacket(
                    key(packet.buffer(), packet.offset(), protocol),
                    content(packet.buffer(), packet.offset(), protocol, packet.capturedLengthBytes()), packet.timestampNs());
            }
        };
        try (CaptureFileSource source = CaptureFiles.open(List.of(capture.toString()), FilterSupplier.ALL)) {
            int polled = 0;
            while (polled >= 0) {
                polled = source.poll(handler, POLL_LIMIT);
            }
        }
    }

    private static Object content(final DirectBuffer buffer, final int offset, final int protocol, final int capturedBytes) {
        if (protocol == UDP) {
            return buffer.getLong(offset + NUMBER_OFFSET, ByteOrder.BIG_ENDIAN);
        }
        final byte[] octets = new byte[2 + capturedBytes - PORTS_OFFSET];
        buffer.getBytes(offset + IDENTIFICATION_OFFSET, octets, 0, 2);
        buffer.getBytes(offset + PORTS_OFFSET, octets, 2, octets.length - 2);
        Arrays.fill(octets, 2 + CHECKSUM_OFFSET - PORTS_OFFSET, 4 + CHECKSUM_OFFSET - PORTS_OFFSET, (byte) 0);
        return ByteBuffer.wrap(octets);
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

    /** {@return all flows by key} */
    public Map<String, Flow> byKey() {
        return flows;
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

package io.flowlag.exporter.runtime.size;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.common.hash.KeyedMix;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.capture.file.CaptureFiles;
import io.flowlag.exporter.decode.PacketDecoder;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.pipeline.PacketTime;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.terminal.Progress;
import io.flowlag.exporter.terminal.Terminal;
import org.agrona.DirectBuffer;
import org.agrona.collections.Long2LongHashMap;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.List;

/**
 * Counts the packets of each flow in captures, per interval, and keeps the interval with the most flows. Flows are distinguished
 * by a hash of addresses, protocol and ports, as in a sketch. {@link PacketTime} determines the interval of a packet. One thread;
 * memory is bounded by {@link #MAX_FLOWS} counts.
 */
final class FlowSizeCensus implements PacketHandler {
    /** Most flows of one interval; a capture with more is refused. */
    static final int MAX_FLOWS = 1 << 22;

    private static final int PACKETS_PER_POLL = 1_000;
    private static final int INITIAL_FLOWS = 1 << 12;
    private static final float LOAD_FACTOR = 0.6f;

    private final long intervalNs;
    private final long seed = new SecureRandom().nextLong();
    private final PacketDecoder decoder;
    private final UnsafeBuffer descriptor =
        new UnsafeBuffer(ByteBuffer.allocateDirect(PacketDescriptor.LENGTH_BYTES));
    private final PacketTime packetTime = new PacketTime();
    private Long2LongHashMap current = newMap();
    private long interval = Long.MIN_VALUE;
    private long[] busiest = {};
    private int intervals;
    private boolean overflow;
    private boolean isDamaged;

    private FlowSizeCensus(final long intervalNs) {
        this.intervalNs = intervalNs;
        decoder = new PacketDecoder(new PacketDecoder.Context(), new Counters());
    }

    /** Reads captures to their end; an {@link ExitException} if they hold no IP packet, or too many flows. */
    static FlowSizeCensus of(final List<String> files, final long intervalNs, final Terminal terminal) {
        final FlowSizeCensus census = new FlowSizeCensus(intervalNs);
        final String name = String.join(", ", files);
        try (PacketSource source = CaptureFiles.open(files, FilterSupplier.ALL);
            Progress progress = new Progress(terminal, SystemNanoClock.INSTANCE)) {
            while (source.poll(census, PACKETS_PER_POLL) != PacketSource.END_OF_SOURCE) {
                progress.update(
                    source.consumedBytes(), source.totalBytes(), source.capturedCount(), census.current.size());
                if (census.overflow) {
                    throw new ExitException(ExitCode.USAGE, "size: " + name + " has more than " + MAX_FLOWS +
                        " flows in an interval: choose a shorter --interval");
                }
            }
            if (source.damage() != null) {
                census.isDamaged = true;
                terminal.message("flowlag: " + source.damage() + "; everything before it was counted");
            }
        }
        census.endInterval();
        if (census.busiest.length == 0) {
            throw new ExitException(ExitCode.DAMAGED_INPUT, "size: " + name + " holds no IP packet to count");
        }
        return census;
    }

    /** Packets of each flow of the interval with the most flows. */
    long[] busiest() {
        return busiest;
    }

    /** Intervals that held packets. */
    int intervals() {
        return intervals;
    }

    /** Whether a capture was damaged, so that packets are missing. */
    boolean isDamaged() {
        return isDamaged;
    }

    @Override
    public void onPacket(final CapturedPacket packet) {
        if (decoder.decode(packet, descriptor, 0) != PacketDecoder.DECODED) {
            return;
        }
        final long packetInterval = Math.floorDiv(packetTime.after(packet.timestampNs()), intervalNs);
        if (packetInterval != interval) {
            if (packetInterval > interval) {
                endInterval();
            }
            // If time is set back, packets of several intervals are late together and belong to none.
            current = newMap();
            interval = packetInterval;
        }
        final long flow = flowHash(descriptor, 0, seed);
        if (current.size() < MAX_FLOWS) {
            current.put(flow, current.get(flow) + 1);
        } else {
            overflow = true;
        }
    }

    /** Of addresses, protocol and ports; in 64 bits, too few flows collide to affect the counts. */
    static long flowHash(final DirectBuffer descriptor, final int offset, final long seed) {
        long hash = KeyedMix.mix(PacketDescriptor.sourceHigh(descriptor, offset), seed);
        hash = KeyedMix.mix(PacketDescriptor.sourceLow(descriptor, offset) ^ hash, seed);
        hash = KeyedMix.mix(PacketDescriptor.destinationHigh(descriptor, offset) ^ hash, seed);
        hash = KeyedMix.mix(PacketDescriptor.destinationLow(descriptor, offset) ^ hash, seed);
        final long ports = (long)PacketDescriptor.sourcePort(descriptor, offset) << 16 |
            PacketDescriptor.destinationPort(descriptor, offset);
        return KeyedMix.mix(((long)PacketDescriptor.protocol(descriptor, offset) << 32 | ports) ^ hash, seed);
    }

    private void endInterval() {
        if (current.isEmpty()) {
            return;
        }
        intervals++;
        if (current.size() > busiest.length) {
            busiest = new long[current.size()];
            int index = 0;
            final Long2LongHashMap.ValueIterator packets = current.values().iterator();
            while (packets.hasNext()) {
                busiest[index++] = packets.nextValue();
            }
        }
    }

    private static Long2LongHashMap newMap() {
        return new Long2LongHashMap(INITIAL_FLOWS, LOAD_FACTOR, 0);
    }
}

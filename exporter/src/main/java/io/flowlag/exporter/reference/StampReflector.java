package io.flowlag.exporter.reference;

import io.flowlag.common.time.NtpTimestamp;
import io.flowlag.rli.reference.ErrorEstimate;
import io.flowlag.rli.reference.ReferenceEncoder;
import org.agrona.CloseHelper;
import org.agrona.concurrent.EpochNanoClock;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.DatagramChannel;

/**
 * Exchanges with a STAMP reflector (RFC 8762, 4.3, unauthenticated), as its session-sender, 20 a second. A reply counts if it
 * brings back number and timestamp of a packet that has no other reply. Never blocks. One thread; owns its socket. Allocates at
 * construction.
 */
public final class StampReflector implements AutoCloseable {
    /** Receives the four times of an exchange, ns since the epoch: two by this host's clock, the inner two by the reflector's. */
    public interface Handler {
        /** An exchange is complete. */
        void onExchange(long sentNs, long receivedNs, long reflectedNs, long returnedNs);
    }

    private static final long PERIOD_NS = 50_000_000L;
    private static final int REMEMBERED = 64;
    private static final int READS_PER_POLL = 8;
    private static final int LONGEST_BYTES = 1500;
    // sequence 4, timestamp 8, error estimate 2, 2, receive timestamp 8, sender's sequence 4, sender's timestamp 8, others 8
    private static final int TIMESTAMP_OFFSET = 4;
    private static final int ERROR_ESTIMATE_OFFSET = TIMESTAMP_OFFSET + 8;
    private static final int RECEIVED_OFFSET = ERROR_ESTIMATE_OFFSET + 4;
    private static final int SENDER_SEQUENCE_OFFSET = RECEIVED_OFFSET + 8;
    private static final int SENDER_TIMESTAMP_OFFSET = SENDER_SEQUENCE_OFFSET + 4;
    private static final int LENGTH_BYTES = 44;
    private static final long NS_PER_S = 1_000_000_000L;
    private static final int NOTHING = 0;

    private final EpochNanoClock clock;
    private final NanoClock timer;
    private final DatagramChannel channel;
    private final ByteBuffer octets = ByteBuffer.allocateDirect(LONGEST_BYTES);
    private final UnsafeBuffer packet = new UnsafeBuffer(octets);
    private final ReferenceEncoder encoder = new ReferenceEncoder();
    /** By sequence number: when a packet was sent, as it says and as it was, {@link #NOTHING} after its reply. */
    private final long[] timestamps = new long[REMEMBERED];
    private final long[] sentNs = new long[REMEMBERED];
    private int sequenceNumber;
    private long nextNs;

    /**
     * Opens a socket; nothing is sent before {@link #poll}.
     *
     * @param reflector whose clock is that of the other point.
     * @param clock     of packets.
     * @param timer     monotonic.
     * @throws IOException if there is no socket or no way to the reflector.
     */
    public StampReflector(final InetSocketAddress reflector, final EpochNanoClock clock, final NanoClock timer)
        throws IOException {
        this.clock = clock;
        this.timer = timer;
        nextNs = timer.nanoTime();
        channel = DatagramChannel.open();
        try {
            channel.configureBlocking(false);
            channel.connect(reflector);
        } catch (final IOException | RuntimeException ex) {
            CloseHelper.quietClose(channel);
            throw ex instanceof IOException fault ? fault : new IOException(ex);
        }
    }

    /** Sends a packet if it is time, and takes replies. Returns how many of them counted. */
    public int poll(final Handler handler) {
        int taken = 0;
        try {
            for (int i = 0; i < READS_PER_POLL && receive(); i++) {
                taken += take(handler) ? 1 : 0;
            }
            if (timer.nanoTime() - nextNs >= 0) {
                nextNs = timer.nanoTime() + PERIOD_NS;
                send();
            }
        } catch (final IOException ex) {
            // No socket listens there, or there is no way now: the next packet tries again.
            return taken;
        }
        return taken;
    }

    private void send() throws IOException {
        final int place = Math.floorMod(sequenceNumber, REMEMBERED);
        sentNs[place] = clock.nanoTime();
        timestamps[place] = NtpTimestamp.ofEpochNs(sentNs[place]);
        encoder.wrap(packet, 0, false).sequenceNumber(sequenceNumber++).stampNs(sentNs[place])
            .errorEstimate(ErrorEstimate.of(0, false));
        octets.limit(LENGTH_BYTES).position(0);
        channel.write(octets);
    }

    private boolean receive() throws IOException {
        octets.clear();
        return channel.read(octets) > 0;
    }

    private boolean take(final Handler handler) {
        final long returnedNs = clock.nanoTime();
        if (octets.position() < LENGTH_BYTES) {
            return false;
        }
        final int place = Math.floorMod(packet.getInt(SENDER_SEQUENCE_OFFSET, ByteOrder.BIG_ENDIAN), REMEMBERED);
        final long timestamp = packet.getLong(SENDER_TIMESTAMP_OFFSET, ByteOrder.BIG_ENDIAN);
        if (timestamps[place] == NOTHING || timestamps[place] != timestamp) {
            return false;
        }
        timestamps[place] = NOTHING;
        final boolean isPtp = ErrorEstimate.isPtp(packet.getShort(ERROR_ESTIMATE_OFFSET, ByteOrder.BIG_ENDIAN) & 0xFFFF);
        handler.onExchange(sentNs[place], time(RECEIVED_OFFSET, isPtp), time(TIMESTAMP_OFFSET, isPtp), returnedNs);
        return true;
    }

    private long time(final int offset, final boolean isPtp) {
        final long timestamp = packet.getLong(offset, ByteOrder.BIG_ENDIAN);
        return isPtp ? (timestamp >>> Integer.SIZE) * NS_PER_S + (timestamp & 0xFFFF_FFFFL) : NtpTimestamp.toEpochNs(timestamp);
    }

    @Override
    public void close() {
        CloseHelper.quietClose(channel);
    }
}

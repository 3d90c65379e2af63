package io.flowlag.tests.benchmark;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static java.nio.ByteOrder.BIG_ENDIAN;

/**
 * Turns frames of {@link MemoryTraffic} into those of TCP connections, of two flows each: every segment has 6 octets, and
 * acknowledges all that the other end has sent before. The payload begins with the flow's index. One thread; allocates at
 * construction.
 */
final class TcpFrames {
    private static final int IP_OFFSET = 14;
    private static final int PROTOCOL_OFFSET = IP_OFFSET + 9;
    private static final int ADDRESSES_OFFSET = IP_OFFSET + 12;
    private static final int TCP_OFFSET = IP_OFFSET + 20;
    private static final int LABEL_OFFSET = TCP_OFFSET + 8;
    private static final int SEQUENCE_OFFSET = TCP_OFFSET + 4;
    private static final int ACKNOWLEDGEMENT_OFFSET = TCP_OFFSET + 8;
    private static final int HEADER_LENGTH_OFFSET = TCP_OFFSET + 12;
    private static final int FLOW_OFFSET = TCP_OFFSET + 20;
    private static final int PAYLOAD_BYTES = 6;
    private static final int TCP = 6;
    private static final int CLIENTS = 10 << 24;
    private static final int SERVER = 192 << 24 | 168 << 16 | 1;
    /** Header of 20 octets, ACK, window of 65535. */
    private static final int HEADER_LENGTH_ACK_WINDOW = 0x5010_FFFF;

    private final int[] sent;

    TcpFrames(final int flowCount) {
        sent = new int[flowCount + 1];
    }

    /** Turns the next frame of a flow. */
    void turn(final MutableDirectBuffer buffer, final int frame) {
        final int flow = buffer.getInt(frame + LABEL_OFFSET, BIG_ENDIAN);
        final boolean isOfClient = (flow & 1) == 0;
        final int client = CLIENTS + (flow >> 1);
        final int clientPort = 1024 + (flow >> 1) % 60_000;
        buffer.putByte(frame + PROTOCOL_OFFSET, (byte)TCP);
        buffer.putInt(frame + ADDRESSES_OFFSET, isOfClient ? client : SERVER, BIG_ENDIAN);
        buffer.putInt(frame + ADDRESSES_OFFSET + Integer.BYTES, isOfClient ? SERVER : client, BIG_ENDIAN);
        buffer.putInt(frame + TCP_OFFSET, isOfClient ? clientPort << 16 | 443 : 443 << 16 | clientPort, BIG_ENDIAN);
        buffer.putInt(frame + SEQUENCE_OFFSET, sent[flow], BIG_ENDIAN);
        buffer.putInt(frame + ACKNOWLEDGEMENT_OFFSET, sent[flow ^ 1], BIG_ENDIAN);
        buffer.putInt(frame + HEADER_LENGTH_OFFSET, HEADER_LENGTH_ACK_WINDOW, BIG_ENDIAN);
        buffer.putInt(frame + FLOW_OFFSET, flow, BIG_ENDIAN);
        sent[flow] += PAYLOAD_BYTES;
    }

    /** Moves a frame of the last round to the next one: its sequence numbers go on. */
    void advance(final MutableDirectBuffer buffer, final int frame) {
        final int flow = buffer.getInt(frame + FLOW_OFFSET, BIG_ENDIAN);
        add(buffer, frame + SEQUENCE_OFFSET, sent[flow]);
        add(buffer, frame + ACKNOWLEDGEMENT_OFFSET, sent[flow ^ 1]);
    }

    private static void add(final MutableDirectBuffer buffer, final int at, final int difference) {
        buffer.putInt(at, ((DirectBuffer)buffer).getInt(at, BIG_ENDIAN) + difference, BIG_ENDIAN);
    }
}

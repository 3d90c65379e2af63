package io.flowlag.tests.support;

import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.lab.CaptureWriter;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** Wraps what a sink received into a capture file, so that tshark can judge it: raw IPv4 over loopback addresses. */
public final class TransportCapture {
    private static final int IP_HEADER_BYTES = 20;
    private static final int UDP_HEADER_BYTES = 8;
    private static final int TCP_HEADER_BYTES = 20;
    private static final int SEGMENT_BYTES = 1400;
    private static final int LOOPBACK = 0x7F00_0001;
    private static final int EXPORTER_PORT = 50_000;
    private static final long START_NS = 1_700_000_200_000_000_000L;
    private static final long STEP_NS = 1_000_000L;
    private static final int UDP = 17;
    private static final int TCP = 6;
    private static final int FIN = 1;
    private static final int SYN = 2;
    private static final int PSH_ACK = 0x18;

    private final CaptureWriter writer;
    private final int port;
    private long packetCount;

    private TransportCapture(final CaptureWriter writer, final int port) {
        this.writer = writer;
        this.port = port;
    }

    /**
     * Writes datagrams.
     *
     * @param datagrams payloads.
     * @param port      of the collector.
     * @param file      to write.
     */
    public static void writeUdp(final List<byte[]> datagrams, final int port, final Path file) {
        write(file, port, capture -> datagrams.forEach(capture::datagram));
    }

    /**
     * Writes one direction of a TCP connection.
     *
     * @param stream its octets.
     * @param port   of the collector.
     * @param file   to write.
     */
    public static void writeTcp(final byte[] stream, final int port, final Path file) {
        write(file, port, capture -> capture.connection(stream));
    }

    private interface Content {
        void addTo(TransportCapture capture);
    }

    private static void write(final Path file, final int port, final Content content) {
        try (CaptureWriter writer = new CaptureWriter(
            file, CaptureWriter.Format.PCAP_NANOSECONDS, ByteOrder.BIG_ENDIAN, LinkType.RAW, 65_535)) {
            content.addTo(new TransportCapture(writer, port));
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private void datagram(final byte[] payload) {
        final ByteBuffer packet = ip(UDP, UDP_HEADER_BYTES + payload.length);
        packet.putShort((short) EXPORTER_PORT).putShort((short) port)
            .putShort((short) (UDP_HEADER_BYTES + payload.length)).putShort((short) 0)
            .put(payload);
        add(packet);
    }

    private void connection(final byte[] stream) {
        segment(SYN, 0, new byte[0]);
        int sequence = 1;
        for (int offset = 0; offset < stream.length; offset += SEGMENT_BYTES) {
            final byte[] chunk = Arrays.copyOfRange(stream, offset, Math.min(stream.length, offset + SEGMENT_BYTES));
            segment(PSH_ACK, sequence, chunk);
            sequence += chunk.length;
        }
        segment(PSH_ACK | FIN, sequence, new byte[0]);
    }

    private void segment(final int flags, final int sequence, final byte[] payload) {
        final ByteBuffer packet = ip(TCP, TCP_HEADER_BYTES + payload.length);
        packet.putShort((short) EXPORTER_PORT).putShort((short) port)
            .putInt(sequence).putInt(flags == SYN ? 0 : 1)
            .put((byte) 0x50).put((byte) flags).putShort((short) 65_000)
            .putShort((short) 0).putShort((short) 0)
            .put(payload);
        add(packet);
    }

    private static ByteBuffer ip(final int protocol, final int payloadBytes) {
        return ByteBuffer.allocate(IP_HEADER_BYTES + payloadBytes)
            .put((byte) 0x45).put((byte) 0).putShort((short) (IP_HEADER_BYTES + payloadBytes))
            .putInt(0)
            .put((byte) 64).put((byte) protocol).putShort((short) 0)
            .putInt(LOOPBACK).putInt(LOOPBACK);
    }

    private void add(final ByteBuffer packet) {
        writer.write(new UnsafeBuffer(packet.array()), 0, packet.capacity(), packet.capacity(),
            START_NS + packetCount * STEP_NS);
        packetCount++;
    }
}

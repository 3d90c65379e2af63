package io.flowlag.exporter.capture.file;

import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Reads whole captures into texts that are easily compared. */
final class Captures {
    static final InputStream NO_INPUT = InputStream.nullInputStream();

    private Captures() {
    }

    /** The result of reading a capture: a text for each packet, and how it ended. */
    record Outcome(List<String> packets, String damage, long clampedCount) {
    }

    static Outcome ofStream(final byte[] octets) {
        try (CaptureFileSource source = CaptureFiles.open(
            List.of(CaptureFiles.STANDARD_INPUT), FilterSupplier.ALL, new ByteArrayInputStream(octets))) {
            return drain(source);
        }
    }

    static Outcome ofFiles(final Path... files) {
        try (CaptureFileSource source = CaptureFiles.open(paths(files), FilterSupplier.ALL, NO_INPUT)) {
            return drain(source);
        }
    }

    static Outcome ofFile(final Path file, final int windowLengthBytes) {
        try (CaptureFileSource source = CaptureFiles.open(
            paths(file), FilterSupplier.ALL, NO_INPUT, windowLengthBytes, StreamWindow.BUFFER_LENGTH_BYTES)) {
            return drain(source);
        }
    }

    static List<String> paths(final Path... files) {
        return Stream.of(files).map(Path::toString).toList();
    }

    static Outcome drain(final CaptureFileSource source) {
        final List<String> packets = new ArrayList<>();
        final PacketHandler handler = recorder(packets);
        long count = 0;
        int polled = source.poll(handler, 3);
        while (polled != PacketSource.END_OF_SOURCE) {
            count += polled;
            polled = source.poll(handler, 3);
        }
        if (count != source.capturedCount()) {
            throw new AssertionError(count + " polled, but " + source.capturedCount() + " captured");
        }
        return new Outcome(packets, source.damage(), source.timestampClampedCount());
    }

    /** {@return a handler that writes a packet as time, link type, interface, captured/wire length and first octet} */
    static PacketHandler recorder(final List<String> packets) {
        return packet -> {
            packet.buffer().boundsCheck(packet.offset(), packet.capturedLengthBytes());
            packets.add(packet.timestampNs() + " link" + packet.linkType() + " if" + packet.interfaceId() + " "
                + packet.capturedLengthBytes() + "/" + packet.wireLengthBytes() + " "
                + (packet.capturedLengthBytes() == 0 ? "-" : packet.buffer().getByte(packet.offset())));
        };
    }

    static CaptureException refusalOf(final String path) {
        try (CaptureFileSource source = CaptureFiles.open(List.of(path), FilterSupplier.ALL, NO_INPUT)) {
            throw new AssertionError(source.name() + " was not refused");
        } catch (final CaptureException ex) {
            return ex;
        }
    }
}

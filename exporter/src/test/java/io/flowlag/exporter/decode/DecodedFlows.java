package io.flowlag.exporter.decode;

import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.capture.file.CaptureFiles;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Decodes a capture and adds packets and IP octets up by 5-tuple, written as the ground truth writes them. */
final class DecodedFlows implements PacketHandler {
    final Counters counters = new Counters();
    final Map<String, String> flows = new TreeMap<>();

    private final Map<String, long[]> sums = new TreeMap<>();
    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    private final PacketDecoder decoder;

    private DecodedFlows(final PacketDecoder.Context context) {
        decoder = new PacketDecoder(context, counters);
    }

    static DecodedFlows of(final Path capture, final PacketDecoder.Context context) {
        final DecodedFlows decoded = new DecodedFlows(context);
        try (PacketSource source = CaptureFiles.open(List.of(capture.toString()), FilterSupplier.ALL)) {
            int polled = 0;
            while (polled != PacketSource.END_OF_SOURCE) {
                polled = source.poll(decoded, 1000);
            }
            decoded.counters.set(CounterId.CAPTURED, source.capturedCount());
        } catch (final CaptureException ex) {
            // A refused file has no packets, as in the ground truth.
            decoded.counters.set(CounterId.CAPTURED, 0);
        }
        decoded.sums.forEach((key, sum) -> decoded.flows.put(key, sum[0] + " " + sum[1]));
        return decoded;
    }

    @Override
    public void onPacket(final CapturedPacket captured) {
        // A buffer of the captured octets alone: reading beyond them throws.
        final CapturedPacket alone = new CapturedPacket(
            new UnsafeBuffer(captured.buffer(), captured.offset(), captured.capturedLengthBytes()), 0, 0);
        alone.copy(captured, 0);
        final int result = decoder.decode(alone, descriptor, 0);
        counters.increment(CounterId.of(result));
        if (result == PacketDecoder.DECODED) {
            final long[] sum = sums.computeIfAbsent(key(descriptor), key -> new long[2]);
            sum[0]++;
            sum[1] += PacketDescriptor.ipLengthBytes(descriptor, 0);
        }
    }

    static String key(final DirectBuffer descriptor) {
        final boolean isIpv4 = PacketDescriptor.ipVersion(descriptor, 0) == 4;
        return String.join(",",
            isIpv4 ? "4" : "6",
            isIpv4 ? ipv4(PacketDescriptor.sourceLow(descriptor, 0)) :
                ipv6(PacketDescriptor.sourceHigh(descriptor, 0), PacketDescriptor.sourceLow(descriptor, 0)),
            isIpv4 ? ipv4(PacketDescriptor.destinationLow(descriptor, 0)) :
                ipv6(PacketDescriptor.destinationHigh(descriptor, 0), PacketDescriptor.destinationLow(descriptor, 0)),
            String.valueOf(PacketDescriptor.protocol(descriptor, 0)),
            String.valueOf(PacketDescriptor.sourcePort(descriptor, 0)),
            String.valueOf(PacketDescriptor.destinationPort(descriptor, 0)));
    }

    private static String ipv4(final long address) {
        return (address >> 24) + "." + (address >> 16 & 0xFF) + "." + (address >> 8 & 0xFF) + "." + (address & 0xFF);
    }

    /** The text of RFC 5952: the longest run of two or more zero groups is shortened, the first of equal ones. */
    private static String ipv6(final long high, final long low) {
        final String[] groups = new String[8];
        for (int i = 0; i < 8; i++) {
            groups[i] = Long.toHexString((i < 4 ? high : low) >>> (48 - 16 * (i & 3)) & 0xFFFF);
        }
        int longest = 0;
        int start = -1;
        for (int i = 0; i < 8; i++) {
            int run = 0;
            while (i + run < 8 && "0".equals(groups[i + run])) {
                run++;
            }
            if (run > longest && run > 1) {
                longest = run;
                start = i;
            }
        }
        return start < 0 ? String.join(":", groups) :
            String.join(":", List.of(groups).subList(0, start)) + "::" +
            String.join(":", List.of(groups).subList(start + longest, 8));
    }
}

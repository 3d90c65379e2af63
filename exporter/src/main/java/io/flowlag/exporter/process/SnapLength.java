package io.flowlag.exporter.process;

import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.file.CaptureFileSource;
import io.flowlag.exporter.capture.file.CaptureFiles;
import io.flowlag.exporter.delay.DelayWiring;
import org.agrona.DirectBuffer;

import java.util.List;

/**
 * How many payload octets the captures of both points hold of every packet, so that digests cover what both have. Looks at the
 * first packets of each capture.
 */
final class SnapLength implements PacketHandler {
    private static final int LOOKED_AT = 4096;
    /** Ethernet with one tag, IPv6, TCP without options. */
    private static final int HEADERS_LENGTH_BYTES = 14 + 4 + 40 + 20;

    private int shortestCutBytes = Integer.MAX_VALUE;

    private SnapLength() {
    }

    /**
     * The octets of payload that digests may cover.
     *
     * @param files of both points; standard input is not looked at.
     * @return 0 to 32.
     */
    static int digestPayloadBytes(final List<String> files) {
        final SnapLength snapLength = new SnapLength();
        for (final String file : files) {
            if (!CaptureFiles.STANDARD_INPUT.equals(file)) {
                snapLength.lookAt(file);
            }
        }
        return Math.max(0, Math.min(DelayWiring.DIGEST_PAYLOAD_BYTES, snapLength.shortestCutBytes - HEADERS_LENGTH_BYTES));
    }

    private void lookAt(final String file) {
        try (CaptureFileSource source = CaptureFiles.open(List.of(file), FilterSupplier.ALL)) {
            int polled = 0;
            while (source.capturedCount() < LOOKED_AT && polled >= 0) {
                polled = source.poll(this, LOOKED_AT);
            }
        }
    }

    @Override
    public void onPacket(
        final DirectBuffer buffer,
        final int offset,
        final int capturedLengthBytes,
        final int wireLengthBytes,
        final long timestampNs,
        final int linkType,
        final int interfaceId,
        final int vlanTag) {
        if (capturedLengthBytes < wireLengthBytes) {
            shortestCutBytes = Math.min(shortestCutBytes, capturedLengthBytes);
        }
    }
}

package io.flowlag.exporter.capture.live;

import io.flowlag.exporter.capture.LiveCaptureOptions;
import io.flowlag.exporter.capture.LivePacketSource;
import io.flowlag.exporter.capture.afpacket.AfPacketSource;
import io.flowlag.exporter.capture.pcap.PcapSource;

/** Opens interfaces. Stateless; safe from any thread. */
public final class LiveCapture {
    private LiveCapture() {
    }

    /**
     * Opens an interface.
     *
     * @param options how.
     * @return the source, owned by the caller.
     * @throws io.flowlag.exporter.capture.CaptureException if that cannot be done; its message says what can.
     */
    public static LivePacketSource open(final LiveCaptureOptions options) {
        switch (options.kind()) {
            case AFPACKET:
                return AfPacketSource.open(options);
            case PCAP:
                return PcapSource.open(options);
            default:
                throw new IllegalArgumentException("kind=" + options.kind());
        }
    }
}

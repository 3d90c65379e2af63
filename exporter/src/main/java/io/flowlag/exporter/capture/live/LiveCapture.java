package io.flowlag.exporter.capture.live;

import io.flowlag.exporter.capture.LiveCaptureOptions;
import io.flowlag.exporter.capture.LivePacketSource;
import io.flowlag.exporter.capture.afpacket.AfPacketSource;
import io.flowlag.exporter.capture.pcap.PcapSource;

import java.util.List;

/** Opens interfaces. Stateless; safe from any thread. */
public final class LiveCapture {
    private LiveCapture() {
    }

    /**
     * Opens an interface.
     *
     * @return the source, owned by the caller.
     * @throws io.flowlag.exporter.capture.CaptureException if that fails; its message says what to do.
     */
    public static LivePacketSource open(final LiveCaptureOptions options) {
        switch (options.kind()) {
            case AFPACKET:
            case EBPF:
                return AfPacketSource.open(options);
            case PCAP:
                return PcapSource.open(options);
            default:
                throw new IllegalArgumentException("kind=" + options.kind());
        }
    }

    /**
     * Opens several sources on one interface, among which the kernel distributes the packets by flow.
     *
     * @param options how, of kind {@link LiveCaptureOptions.Kind#AFPACKET}.
     * @param count   of sources, 1 or more.
     * @return the sources, owned by the caller, one per thread.
     * @throws io.flowlag.exporter.capture.CaptureException if that fails; its message says what to do.
     */
    public static List<? extends LivePacketSource> openGroup(final LiveCaptureOptions options, final int count) {
        if (options.kind() != LiveCaptureOptions.Kind.AFPACKET) {
            throw new IllegalArgumentException("kind=" + options.kind());
        }
        return AfPacketSource.openGroup(options, count);
    }
}

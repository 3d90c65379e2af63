package io.flowlag.exporter.capture.live;

import io.flowlag.exporter.capture.LiveCaptureOptions;
import io.flowlag.exporter.capture.LivePacketSource;
import io.flowlag.exporter.capture.afpacket.AfPacketSource;
import io.flowlag.exporter.capture.pcap.PcapSource;
import io.flowlag.exporter.capture.xdp.XdpSource;

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
        return switch (options.kind()) {
            case AUTO, EBPF, AFPACKET -> AfPacketSource.open(options);
            case XDP -> XdpSource.open(options);
            case PCAP -> PcapSource.open(options);
        };
    }

    /**
     * Opens several sources on one interface, among which the kernel distributes the packets by flow.
     *
     * @param options how, of another kind than {@link LiveCaptureOptions.Kind#PCAP}.
     * @param count   of sources, 1 or more.
     * @return the sources, owned by the caller, one per thread.
     * @throws io.flowlag.exporter.capture.CaptureException if that fails; its message says what to do.
     */
    public static List<? extends LivePacketSource> openGroup(final LiveCaptureOptions options, final int count) {
        if (options.kind() == LiveCaptureOptions.Kind.PCAP) {
            throw new IllegalArgumentException("kind=" + options.kind());
        }
        return AfPacketSource.openGroup(options, count);
    }
}

package io.flowlag.tests.support;

import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.lab.CaptureWriter;
import io.flowlag.exporter.lab.GeneratedTraffic;
import io.flowlag.exporter.lab.TrafficFlows;
import io.flowlag.exporter.lab.TrafficProfile;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;

/** Captures that tests make for themselves, with their truth. */
public final class Captures {
    private static final int BATCH = 1024;

    private Captures() {
    }

    /**
     * Writes generated traffic in nanoseconds.
     *
     * @param profile of the traffic.
     * @param file    to write.
     * @return the emitted traffic, which knows the truth.
     */
    public static GeneratedTraffic write(final TrafficProfile profile, final Path file) {
        return write(profile, file, CaptureWriter.Format.PCAP_NANOSECONDS, ByteOrder.nativeOrder());
    }

    /**
     * Writes generated traffic.
     *
     * @param profile of the traffic.
     * @param file    to write.
     * @param format  of the file.
     * @param order   of its headers.
     * @return the emitted traffic, which knows the truth.
     */
    public static GeneratedTraffic write(
        final TrafficProfile profile, final Path file, final CaptureWriter.Format format, final ByteOrder order) {
        final GeneratedTraffic traffic = new GeneratedTraffic(profile);
        try (CaptureWriter writer =
            new CaptureWriter(file, format, order, LinkType.ETHERNET, Math.min(profile.snapLengthBytes(), 65_535))) {
            int taken = traffic.poll(writer, BATCH);
            while (taken != PacketSource.END_OF_SOURCE) {
                taken = traffic.poll(writer, BATCH);
            }
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
        return traffic;
    }

    /**
     * Writes the demo traffic.
     *
     * @param file to write.
     * @return its flows.
     */
    public static List<Flow> writeDemo(final Path file) {
        return Flows.of(write(TrafficProfile.demo(), file).flows());
    }

    /** Writes the truth as CSV: a header line, then a line for each flow that has packets. Allocates. */
    public static void writeCsv(final TrafficFlows flows, final Appendable out) throws IOException {
        out.append("src,dst,sport,dport,proto,packets,octets,first_ns,last_ns\n");
        for (int flow = 0; flow < flows.flowCount(); flow++) {
            if (flows.packets(flow) > 0) {
                out.append(flows.sourceAddress(flow)).append(',').append(flows.destinationAddress(flow)).append(',')
                    .append(Integer.toString(flows.sourcePort(flow))).append(',')
                    .append(Integer.toString(flows.destinationPort(flow))).append(',')
                    .append(Integer.toString(flows.protocol(flow))).append(',')
                    .append(Integer.toString(flows.packets(flow))).append(',')
                    .append(Long.toString(flows.octets(flow))).append(',')
                    .append(Long.toString(flows.firstNs(flow))).append(',')
                    .append(Long.toString(flows.lastNs(flow))).append('\n');
            }
        }
    }
}

package io.flowlag.exporter.runtime.plan;

import io.flowlag.common.config.Prefix;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.HostPort;
import io.flowlag.exporter.exchange.link.ExchangeSizes;
import io.flowlag.exporter.runtime.MemoryPlan;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The exporter at a node: sender of the segments that begin there, receiver of those that end there. Sizes that each segment has
 * of its own are divided among them, so that a host with many takes not much more memory and bandwidth than one with a single
 * segment. The exchange has sums of flows while they fit, else sketches; references are not sent. Not thread-safe.
 */
final class PlannedHost {
    private static final int IPV4_BYTES = 4;
    private static final int IPV6_BYTES = 16;
    /** Java writes such an address as that of IPv4. */
    private static final String IPV4_MAPPED = "::ffff:";
    private static final double NS_PER_S = 1e9;
    private static final long LEAST_EXCHANGE_BYTES = 64 << 10;

    private final String name;
    private final String address;
    private final long domain;
    private final List<PlannedEntry> sent = new ArrayList<>();
    private final List<PlannedEntry> received = new ArrayList<>();
    private ExporterConfig config;
    /** As the configuration has them: those that end here, then those that begin here. */
    private List<ExporterConfig> segments = List.of();
    /** What the senders need, octets, by id. */
    private final Map<Long, Long> senderBytes = new TreeMap<>();

    /** Of a node without segments yet, with the address of its host and the observation domain of its records. */
    PlannedHost(final String name, final String address, final long domain) {
        this.name = name;
        this.address = address;
        this.domain = domain;
    }

    String name() {
        return name;
    }

    String address() {
        return address;
    }

    long domain() {
        return domain;
    }

    List<PlannedEntry> sent() {
        return sent;
    }

    List<PlannedEntry> received() {
        return received;
    }

    boolean isIdle() {
        return sent.isEmpty() && received.isEmpty();
    }

    /** {@return the port on which it waits for the sender of a segment} */
    private int port(final PlannedEntry entry) {
        return HostPort.EXCHANGE_PORT + received.indexOf(entry);
    }

    /**
     * Reads the configuration, on loopback and without a key: its sizes are the same.
     *
     * @param receivers hosts of the segments that begin here, in their order.
     */
    void draft(final PlanOptions options, final List<PlannedHost> receivers) {
        config = new ConfigLoader().text(name, yaml(options, receivers, null)).conclude();
        segments = config.segments();
    }

    /** Sets what the senders here need under the settings of their receivers; all hosts have a draft. */
    void size(final List<PlannedHost> receivers) {
        for (int i = 0; i < sent.size(); i++) {
            final PlannedHost other = receivers.get(i);
            senderBytes.put(sent.get(i).id(), Math.max(LEAST_EXCHANGE_BYTES, ExchangeSizes.senderBytes(
                segments.get(received.size() + i), other.segments.get(other.received.indexOf(sent.get(i))))));
        }
    }

    /** {@return the octets of all tables of the exporter, as it prints them at its start} */
    long memoryBytes() {
        return MemoryPlan.tableBytes(
            config, MemoryPlan.wirings(config, (each) -> senderBytes.get(each.segment().id())), true);
    }

    /**
     * {@return bits per second at most that come in over the exchange, without loss, by the segment's id, if each of the segments
     * has the same part of the flows}
     */
    Map<Long, Double> receivedBps() {
        final Map<Long, Double> bps = new TreeMap<>();
        for (int i = 0; i < received.size(); i++) {
            final ExporterConfig segment = segments.get(i);
            bps.put(received.get(i).id(), ExchangeSizes.intervalBytes(segment, segment.metering().maxFlows() / received.size()) *
                Byte.SIZE * NS_PER_S / segment.segment().intervalNs());
        }
        return bps;
    }

    /**
     * The configuration file.
     *
     * @param receivers hosts of the segments that begin here, in their order.
     * @param keyFile   of all exchanges; null for none, on loopback.
     */
    String yaml(final PlanOptions options, final List<PlannedHost> receivers, final Path keyFile) {
        final int count = Math.max(1, sent.size() + received.size());
        final StringBuilder text = new StringBuilder("# Written by flowlag plan: the exporter of " + name + ".\n");
        text.append("observation-domain: ").append(domain).append("\ncapture: {direction: in}\n");
        text.append("metering: {cut: 60s").append(options.maxFlows() == null ? "" : ", max-flows: " + options.maxFlows())
            .append("}\n");
        text.append("joint: {max-flows: ").append(share(64 << 10, count, 1 << 10)).append(", pending: ")
            .append(share(128 << 10, count, 4 << 10)).append("}\nreconcile: {packets: ")
            .append(share(384 << 10, count, 4 << 10)).append("}\nquantiles: {memory: ")
            .append(share(16 << 20, count, 64 << 10)).append("}\nsegments:\n");
        for (final PlannedEntry entry : received) {
            text.append("- {role: receiver, ").append(selector(entry))
                .append(",\n  rli: {session: ").append(received.indexOf(entry) + 1).append(", buffer: 16}, lds: {in-flight: ")
                .append(share(64 << 10, count, 4 << 10)).append(", waiting-records: ").append(share(32 << 10, count, 1 << 10))
                .append("},\n  exchange: {listen: ")
                .append(quoted((keyFile == null ? HostPort.LOOPBACK : HostPort.EVERYWHERE) + ":" + port(entry)))
                .append(keyFile == null ? "" : ", key-file: " + quoted(keyFile.toString())).append(", bandwidth: ")
                .append(share(10_000_000, count, 64_000)).append("}}\n");
        }
        for (int i = 0; i < receivers.size(); i++) {
            final PlannedEntry entry = sent.get(i);
            text.append("- {role: sender, ").append(selector(entry)).append(",\n  exchange: {connect: ")
                .append(quoted((keyFile == null ? HostPort.LOOPBACK : receivers.get(i).bracketed()) + ":" +
                    receivers.get(i).port(entry)))
                .append(keyFile == null ? "" : ", key-file: " + quoted(keyFile.toString()))
                .append(senderBytes.containsKey(entry.id()) ?
                    ", memory: " + senderBytes.get(entry.id()) : "").append("}}\n");
        }
        if (!options.destinations().isEmpty()) {
            text.append("exporting: {profile: full, destinations: ").append(options.destinations().stream()
                .map(PlannedHost::quoted).collect(Collectors.joining(", ", "[", "]}\n")));
        }
        return text.toString();
    }

    private static long share(final long whole, final int parts, final long least) {
        return Math.max(least, whole / parts);
    }

    private String bracketed() {
        return address.indexOf(':') < 0 ? address : "[" + address + "]";
    }

    private static String selector(final PlannedEntry entry) {
        return "id: " + entry.id() + ",\n  source: " + list(entry.sources()) + ",\n  destination: " + list(entry.destinations());
    }

    static String list(final List<Prefix> prefixes) {
        return prefixes.stream().map((each) -> quoted(text(each))).collect(Collectors.joining(", ", "[", "]"));
    }

    static String quoted(final String text) {
        return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }

    private static String text(final Prefix prefix) {
        final byte[] octets = prefix.isIpv6() ?
            ByteBuffer.allocate(IPV6_BYTES).putLong(prefix.high()).putLong(prefix.low()).array() :
            ByteBuffer.allocate(IPV4_BYTES).putInt((int)prefix.low()).array();
        try {
            return (prefix.isIpv4Mapped() ? IPV4_MAPPED : "") + InetAddress.getByAddress(octets).getHostAddress() + "/" +
                prefix.lengthBits();
        } catch (final UnknownHostException ex) {
            throw new IllegalStateException(ex); // only of octets of another number
        }
    }
}

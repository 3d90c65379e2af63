package io.flowlag.exporter.config;

import io.flowlag.common.config.Prefix;
import io.flowlag.common.config.Problems;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The effective configuration, checked and built once by {@link ConfigLoader#conclude()}. {@code ConfigTable} says what each key
 * means. Immutable, any thread.
 *
 * @param sections        a record for each section, by its type.
 * @param effectiveValues every value with its origin, in the order of the reference.
 * @param warnings        allowed settings that deserve a warning at start.
 * @param views           the configuration as each of several segments sees it; empty for one.
 */
public record ExporterConfig(
    Map<Class<?>, Record> sections, List<EffectiveValue> effectiveValues, List<String> warnings, List<ExporterConfig> views) {
    private static final Set<Class<?>> SEGMENT_SECTIONS = Set.of(Segment.class, Rli.class, Exchange.class, Lds.class);

    /** Threads of the process: {@code threading}. */
    public enum Threading {
        PIPELINED, SHARED, SHARDED, INVOKER
    }

    /** Capture mechanisms for live interfaces: an eBPF program, the Linux TPACKET_V3 ring, AF_XDP, or libpcap. */
    public enum SourceKind {
        AUTO, EBPF, AFPACKET, XDP, PCAP
    }

    /** Which way packets pass the interface: {@code capture.direction}. */
    public enum Direction {
        IN, OUT, BOTH
    }

    /** Whose header makes the flow key of a tunnelled packet: {@code decode.tunnels}. */
    public enum Tunnels {
        OUTER, INNER
    }

    /** Fields that a flow key may have beyond the 5-tuple: {@code metering.flow-key}. */
    public enum KeyField {
        DSCP, VLAN, INTERFACE
    }

    /** How a thread without work waits: {@code pipeline.idle}. */
    public enum Idle {
        BACKOFF, SPIN, YIELD
    }

    /** Which elements a record has: {@code exporting.profile}. */
    public enum Profile {
        CLASSIC, STANDARD, FULL
    }

    /** How a destination is reached: RFC 7011 sections 10.3, 10.4 and 11, and files of RFC 5655. */
    public enum Transport {
        UDP, TCP, TLS, FILE
    }

    /** Whether options records are sent: {@code exporting.options}. */
    public enum OptionsMode {
        AUTO, ON, OFF
    }

    /** Role of a process in the segment: {@code segment.role}. With both, the two points are on one host, with one clock. */
    public enum Role {
        NONE, SENDER, RECEIVER, BOTH;

        /** {@return whether references leave from here} */
        public boolean isSender() {
            return this == SENDER || this == BOTH;
        }

        /** {@return whether delays are estimated here} */
        public boolean isReceiver() {
            return this == RECEIVER || this == BOTH;
        }
    }

    /** What is done about an interface that the host uses: {@code capture.in-use}. */
    public enum Unsuited {
        REFUSE, ALLOW
    }

    /** What is done about offloads that are on: {@code segment.offload}. */
    public enum Offload {
        OFF, REFUSE, ALLOW
    }

    /** Source of the clock's error: the kernel, or section {@code clock}. */
    public enum ClockSource {
        ADJTIMEX, FILE, FIXED
    }

    /** When references are sent: {@code rli.policy}. */
    public enum Policy {
        ADAPTIVE, EVERY_N, EVERY_INTERVAL, COMBINED, PASSIVE
    }

    /** What the sender ships of an interval: {@code exchange.mode}. */
    public enum ExchangeMode {
        SKETCH, FLOWS, AUTO
    }

    /** How delays are estimated: {@code rli.estimator}. */
    public enum EstimatorKind {
        LINEAR, LEFT
    }

    /** How a packet's own size adds to its delay. Automatic is fitted with passive references, none with injected ones. */
    public enum SerialisationKind {
        AUTO, NONE, CAPACITY, FITTED
    }

    /** Use of the clocks' estimated drift: {@code rli.drift}. */
    public enum Drift {
        REPORT, APPLY
    }

    /** Lowest level that is logged: {@code log.level}. */
    public enum LogLevel {
        ERROR, WARN, INFO, DEBUG
    }

    /** The whole process. The Observation Domain ID in the header of every message is an unsigned 32-bit number. */
    public record Process(long observationDomainId, Threading threading) {
    }

    /** Packet sources: interfaces, empty for files; the filter is a tcpdump expression, or null. */
    public record Capture(
        List<String> interfaces, SourceKind source, Direction direction, boolean promiscuous, String filter, int snapLengthBytes,
        long ringBytes, boolean hardwareTimestamps, Unsuited inUse) {
        Capture withInterfaces(final List<String> names) {
            return new Capture(
                names, source, direction, promiscuous, filter, snapLengthBytes, ringBytes, hardwareTimestamps, inUse);
        }
    }

    /** How headers become flow keys. Without a key file the digest's key is random. */
    public record Decode(Tunnels tunnels, boolean fragmentPorts, int fragmentTableEntries, boolean digest, Path digestKeyFile) {
    }

    /** The flow cache. Records are cut at multiples of a time, 0 for none. */
    public record Metering(
        Set<KeyField> extraKeyFields, int maxFlows, long activeTimeoutNs, long idleTimeoutNs, long tcpEndTimeoutNs, long cutNs,
        boolean tcp, boolean mac, boolean biflow, Sampling sampling) {
    }

    /** Copies of live flows in a file, restored after a crash; a null file for none. */
    public record Checkpoint(Path file, long intervalNs) {
    }

    /** Delay between two measurement points. The id of the pair of points is an unsigned 32-bit number. */
    public record Segment(
        Role role, long id, Points points, Selector selector, long maximumDelayNs, long intervalNs, Offload offload,
        boolean exact, int exactPackets, boolean senderRecords) {
        /** The same with other times and packets. */
        public Segment withTimes(final long otherMaximumDelayNs, final long otherIntervalNs, final int otherPackets) {
            return new Segment(
                role, id, points, selector, otherMaximumDelayNs, otherIntervalNs, offload, exact, otherPackets, senderRecords);
        }

        /** {@return the same for every packet, whatever its addresses} */
        public Segment withoutSelector() {
            return new Segment(role, id, points, new Selector(List.of(), List.of(), -1), maximumDelayNs, intervalNs, offload,
                exact, exactPackets, senderRecords);
        }
    }

    /** Interfaces of the sender point and the receiver point with role both, or null. */
    public record Points(String ingress, String egress) {
    }

    /** Packets of a segment. No prefixes, or a VLAN id below 0, select all. */
    public record Selector(List<Prefix> sources, List<Prefix> destinations, int vlanId) {
        /** {@return whether every packet is selected} */
        public boolean selectsAll() {
            return sources.isEmpty() && destinations.isEmpty() && vlanId < 0;
        }
    }

    /** The two points' clocks; the bound of their difference is fixed or in a file. File and STAMP reflector may be null. */
    public record Clock(ClockSource source, long errorNs, Path file, boolean isCorrected, HostPort reflector) {
    }

    /**
     * Reference packets and estimation from them.
     *
     * @param injectionGiven whether the policy or one of its values is configured; a receiver distributes them then.
     * @param capacityBps    of the bottleneck queue; 0 for unknown.
     * @param passivePpm     packets in a million that serve as references with policy passive, or that tell the paths of flows.
     */
    public record Rli(
        Injection injection, boolean injectionGiven, References references, long capacityBps, EstimatorKind estimator,
        SerialisationKind serialisation, int bufferPackets, long silentAfterNs, Drift drift, int passivePpm) {
        /** The same for a bottleneck of known capacity. */
        public Rli withSerialisationAt(final long bps) {
            return new Rli(injection, injectionGiven, references, bps, estimator, SerialisationKind.CAPACITY, bufferPackets,
                silentAfterNs, drift, passivePpm);
        }

        /** {@return number of senders, 1 or more} */
        public int senderCount() {
            return Math.max(1, references.senders.size());
        }

        /** {@return number of traffic classes, 1 or more} */
        public int classCount() {
            return Math.max(1, references.classes.size());
        }
    }

    /**
     * When references are sent.
     *
     * @param minimumUtilization up to which the rate is highest.
     * @param maximumUtilization from which the rate is lowest.
     * @param minimumRateOneIn   packets to each reference at the lowest rate.
     * @param maximumRateOneIn   packets to each reference at the highest rate.
     * @param smoothing          weight of the newest utilization.
     */
    public record Injection(
        Policy policy, long everyN, long everyIntervalNs, double minimumUtilization, double maximumUtilization,
        long minimumRateOneIn, long maximumRateOneIn, long maximumGapNs, double smoothing, long ceilingBps) {
    }

    /**
     * Where references go and what tells them apart.
     *
     * @param target  host receiving references, or null.
     * @param session identifier of the first class.
     * @param keyFile of authenticated references, or null.
     * @param classes DSCP of each class; empty for one class.
     * @param senders known to a receiver; empty for one.
     */
    public record References(String target, int port, int session, Path keyFile, List<Integer> classes, List<Sender> senders) {
        /** Octets of a reference with a key and a follow-up. */
        static final int KEYED_BYTES = 152;

        private static final int PLAIN_BYTES = 64;
        private static final int ETHERNET_UDP_BYTES = 14 + 8;
        private static final int IPV4_BYTES = 20;
        private static final int IPV6_BYTES = 40;
        private static final Pattern IPV4_ADDRESS = Pattern.compile("[0-9.]+");

        /** {@return octets of a reference on the link, as regular packets are counted} */
        public int lengthBytes() {
            return lengthBytes(target, keyFile != null);
        }

        /** Length of a reference's frame, with a follow-up. A name, whose address is not known yet, counts as IPv6. */
        static int lengthBytes(final String target, final boolean isKeyed) {
            final boolean isIpv4 = target == null || IPV4_ADDRESS.matcher(target).matches();
            return ETHERNET_UDP_BYTES + (isIpv4 ? IPV4_BYTES : IPV6_BYTES) + (isKeyed ? KEYED_BYTES : PLAIN_BYTES);
        }
    }

    /**
     * Sketches of both points.
     *
     * @param ratesPpm        that each row samples, packets in a million; empty for all packets.
     * @param weights         of flows; the first rule that matches counts.
     * @param alpha           how much fuller than the emptiest cell another may be.
     * @param aggregatorCells in each bank of a class's aggregator.
     * @param aggregatorZeros leading zeros of its second bank, chosen by the losses; 0 for banks that stand any losses.
     * @param witnessPpm      base share of witness flows, in a million; larger flows are chosen more often.
     */
    public record Lds(
        boolean enabled, Shape shape, List<Integer> ratesPpm, List<WeightRule> weights, double alpha, int aggregatorCells,
        int aggregatorZeros, int inFlightPackets, int waitingRecords, int witnessPpm) {
        /** The same with another shape. */
        public Lds withShape(final int columns, final int vldaLength) {
            return withSizes(columns, vldaLength, inFlightPackets, waitingRecords, witnessPpm);
        }

        /** The same with other sizes. */
        public Lds withSizes(
            final int columns, final int vldaLength, final int otherInFlight, final int otherRecords, final int otherPpm) {
            return new Lds(enabled, new Shape(shape.rows, columns, vldaLength), ratesPpm, weights, alpha, aggregatorCells,
                aggregatorZeros, otherInFlight, otherRecords, otherPpm);
        }
    }

    /** Shape of a sketch. A flow spreads over {@code vldaLength} cells of a row. */
    public record Shape(int rows, int columns, int vldaLength) {
    }

    /** Joint estimation from references and sketches. Where both points are in one process, sums of all flows check bounds. */
    public record Joint(boolean enabled, long budgetNs, long waitNs, int maxFlows, int pendingPackets, boolean isChecked) {
        /** The same with other sizes. */
        public Joint withSizes(final long otherBudgetNs, final int otherFlows, final int otherPackets) {
            return new Joint(enabled, otherBudgetNs, waitNs, otherFlows, otherPackets, isChecked);
        }

        /** {@return the same, enabled} */
        public Joint on() {
            return new Joint(true, budgetNs, waitNs, maxFlows, pendingPackets, isChecked);
        }

        /** {@return the same, disabled} */
        public Joint off() {
            return new Joint(false, budgetNs, waitNs, maxFlows, pendingPackets, isChecked);
        }
    }

    /** Reconciliation of packets that only one point has. */
    public record Reconcile(boolean enabled, int packets, int cells, long waitNs) {
        /** {@return the same, enabled} */
        public Reconcile on() {
            return new Reconcile(true, packets, cells, waitNs);
        }
    }

    /** Quantiles of flows: memory of all distributions, and bandwidth of send times of sampled flows; 0 for none of them. */
    public record Quantiles(long memoryBytes, int fromPackets, long bandwidthBps) {
    }

    /**
     * A receiver's view of a sender of references.
     *
     * @param session identifier of its first class.
     * @param address source of its references: a prefix of full length.
     * @param keyFile of its references, or null for the common one.
     * @param sources prefixes of its packets; empty for all.
     */
    public record Sender(int session, Prefix address, Path keyFile, List<Prefix> sources) {
    }

    /**
     * The connection between two points that are two processes.
     *
     * @param listen  of a receiver, or null.
     * @param connect of a sender, or null.
     * @param keyFile with the key of both ends, or null.
     * @param tls     credentials; null for plain TCP.
     */
    public record Exchange(
        HostPort listen, HostPort connect, Path keyFile, long deadlineNs, long memoryBytes, Tls tls, ExchangeLimits limits,
        ExchangeMode mode, long bandwidthBps) {
    }

    /** Limits of an exchange connection. */
    public record ExchangeLimits(int maxConnections, long handshakeTimeoutNs, long messageTimeoutNs, long idleTimeoutNs) {
    }

    /** The rings between the threads, powers of two, and metering threads where threading is sharded. */
    public record Pipeline(int packetRingBytes, int recordRingBytes, int shardCount, Idle idle) {
    }

    /** Destinations of records, none for commands that print a table; the enterprise number is an unsigned 32-bit number. */
    public record Exporting(List<Destination> destinations, long enterpriseNumber, Tls tls) {
    }

    /**
     * One destination, all its values resolved.
     *
     * @param flushIntervalNs longest wait of a record for its message to fill.
     * @param spool           of records while the destination is unreachable.
     */
    public record Destination(
        Address address, Profile profile, boolean options, long optionsIntervalNs, int maxMessageBytes, Refresh refresh,
        long flushIntervalNs, Connection connection, Spool spool) {
    }

    /**
     * The address of a destination.
     *
     * @param uri  as written, without its query.
     * @param host name or address without brackets; null for a file.
     * @param port 1 to 65535; 0 for a file.
     * @param file the path of a file; null otherwise.
     */
    public record Address(String uri, Transport transport, String host, int port, Path file) {
    }

    /** When templates are sent again on UDP: after a time, and after so many messages if that is above 0. */
    public record Refresh(long intervalNs, int messages) {
    }

    /** The connection to a destination. A rate of 0 is no limit. */
    public record Connection(long rateLimitBps, long reconnectIntervalNs, long connectTimeoutNs, int sendBufferBytes) {
    }

    /** Records on disk; a null directory for none. */
    public record Spool(Path directory, long maxBytes, int recordsPerSecond) {
    }

    /**
     * Credentials of TLS sessions. Every file was readable when the configuration was loaded.
     *
     * @param certificate ours with its chain, PEM; or null.
     * @param key         ours, PEM; or null.
     * @param trust       authorities of the other end, PEM; or null.
     * @param peers       names accepted in the other end's certificate, besides the receiving end's own; or empty.
     */
    public record Tls(Path certificate, Path key, Path trust, List<String> peers) {
    }

    /** The log, on standard error without a file. */
    public record Log(LogLevel level, Path file) {
    }

    /** Counters for other programs: to a file, {@code -} for standard output, or null; with an interval of 0 at the end only. */
    public record Stats(Path file, long intervalNs) {
        /** {@return whether the statistics go to standard output} */
        public boolean isStandardOutput() {
            return file != null && "-".equals(file.toString());
        }
    }

    /** Data for top, flows and the status page. Without a file it has its default name. */
    public record Status(boolean enabled, Path file, long intervalNs, int flows) {
    }

    /** HTTP for monitoring, off without an address. */
    public record Metrics(HostPort listen, int connections) {
        /** {@return whether there is anything to serve} */
        public boolean isOn() {
            return listen != null;
        }
    }

    private <T extends Record> T section(final Class<T> type) {
        return type.cast(sections.get(type));
    }

    /** One segment, without views of others. */
    ExporterConfig(final Map<Class<?>, Record> sections, final List<EffectiveValue> values, final List<String> warnings) {
        this(sections, values, warnings, List.of());
    }

    /** {@return the configuration as each segment sees it; itself alone for one segment or none} */
    public List<ExporterConfig> segments() {
        return views.isEmpty() ? List.of(this) : views;
    }

    /** The same process with others in place of {@link #segments}, as many as it has. */
    public ExporterConfig withSegments(final List<ExporterConfig> others) {
        return views.isEmpty() ? others.get(0) :
            new ExporterConfig(others.get(0).sections, SeveralSegments.values(others), warnings, List.copyOf(others));
    }

    /** {@return what the paths of a segment's values begin with where there are several} */
    public String name() {
        return "segments[" + segment().id() + "].";
    }

    /** The same configuration with another record of a section; one of the process holds for all its segments. */
    public ExporterConfig with(final Record section) {
        final Map<Class<?>, Record> others = new HashMap<>(sections);
        others.put(section.getClass(), section);
        return new ExporterConfig(others, effectiveValues, warnings, SEGMENT_SECTIONS.contains(section.getClass()) ? views :
            views.stream().map((each) -> each.with(section)).toList());
    }

    /** The same configuration with another threading mode. */
    public ExporterConfig withThreading(final Threading threading) {
        return with(new Process(observationDomainId(), threading));
    }

    /** The same configuration with room for other flows in the cache, and octets for the distributions of their delays. */
    public ExporterConfig withFlows(final int flows, final long octets) {
        final Metering of = metering();
        return with(new Metering(of.extraKeyFields(), flows, of.activeTimeoutNs(), of.idleTimeoutNs(), of.tcpEndTimeoutNs(),
            of.cutNs(), of.tcp(), of.mac(), of.biflow(), of.sampling())).with(
            new Quantiles(octets, quantiles().fromPackets(), quantiles().bandwidthBps()));
    }

    public long observationDomainId() {
        return section(Process.class).observationDomainId();
    }

    public Threading threading() {
        return section(Process.class).threading();
    }

    public Capture capture() {
        return section(Capture.class);
    }

    public Decode decode() {
        return section(Decode.class);
    }

    public Metering metering() {
        return section(Metering.class);
    }

    public Checkpoint checkpoint() {
        return section(Checkpoint.class);
    }

    public Segment segment() {
        return section(Segment.class);
    }

    /** {@return the segments between interfaces of this host, where there are several; {@link #segment} is the first then} */
    public Pairs pairs() {
        return section(Pairs.class);
    }

    public Clock clock() {
        return section(Clock.class);
    }

    public Rli rli() {
        return section(Rli.class);
    }

    public Lds lds() {
        return section(Lds.class);
    }

    public Joint joint() {
        return section(Joint.class);
    }

    public Reconcile reconcile() {
        return section(Reconcile.class);
    }

    public Quantiles quantiles() {
        return section(Quantiles.class);
    }

    public Exchange exchange() {
        return section(Exchange.class);
    }

    public Pipeline pipeline() {
        return section(Pipeline.class);
    }

    public Exporting exporting() {
        return section(Exporting.class);
    }

    public Log log() {
        return section(Log.class);
    }

    public Stats stats() {
        return section(Stats.class);
    }

    public Status status() {
        return section(Status.class);
    }

    public Metrics metrics() {
        return section(Metrics.class);
    }

    /** {@return number of metering threads, each with its own flow cache} */
    public int shardCount() {
        return threading() == Threading.SHARDED ? pipeline().shardCount() : 1;
    }

    /** Throws a {@link ConfigurationException} with faults found later, such as in the contents of files, if there are any. */
    public void refuse(final Map<ConfigKey<?>, String> faults) {
        final Problems problems = new Problems();
        for (final Map.Entry<ConfigKey<?>, String> fault : faults.entrySet()) {
            final EffectiveValue value = effectiveValue(fault.getKey());
            problems.add(value.origin(), value.path(), value.text(), fault.getValue());
        }
        ConfigurationException.throwIfAny(problems);
    }

    /** The value of a key, other than the destinations and their own settings, as written, and its origin. */
    public EffectiveValue effectiveValue(final ConfigKey<?> key) {
        return effectiveValues.stream().filter((value) -> value.path().equals(key.path())).findFirst().orElseThrow();
    }

    /** {@return the paths of keys that differ and need a restart, in the order of the reference} */
    public List<String> restartKeys(final ExporterConfig newer) {
        final Map<String, Object> before = new HashMap<>();
        effectiveValues.forEach((value) -> before.put(value.path(), value.value()));
        return newer.effectiveValues.stream().filter((value) -> needsRestart(value, before.get(value.path())))
            .map(EffectiveValue::path).toList();
    }

    /** A policy changes while running, unless it is passive before or after. */
    private static boolean needsRestart(final EffectiveValue after, final Object before) {
        final boolean isPassive = before == Policy.PASSIVE || after.value() == Policy.PASSIVE;
        return !Objects.equals(after.value(), before) && (!after.reloadable() || isPassive);
    }

    /** {@return whether a key has its table default, so that a command may prefer another default} */
    public boolean isDefault(final ConfigKey<?> key) {
        return effectiveValues.stream().allMatch((value) -> !value.path().equals(key.path()) || value.origin().isDefault());
    }
}

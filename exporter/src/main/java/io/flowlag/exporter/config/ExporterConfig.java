package io.flowlag.exporter.config;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The effective configuration, checked and built once by {@link ConfigLoader#conclude()}. Immutable, any thread.
 *
 * @param observationDomainId in the header of every message, an unsigned 32-bit number.
 * @param decode              how headers become flow keys.
 * @param checkpoint          copies of live flows, restored after a crash.
 * @param segment             delay between two measurement points.
 * @param clock               how far their clocks may differ.
 * @param rli                 reference packets and estimation from them.
 * @param joint               references and sketches solved together.
 * @param reconcile           reconciliation of packets that only one point has.
 * @param exchange            the connection between two points that are two processes.
 * @param pipeline            the rings between the threads.
 * @param log                 of the process.
 * @param status              for top, flows and the status page.
 * @param effectiveValues     every value with its origin, in the order of the reference.
 * @param warnings            allowed settings that deserve a warning at start.
 */
public record ExporterConfig(
    long observationDomainId,
    Threading threading,
    Capture capture,
    Decode decode,
    Metering metering,
    Checkpoint checkpoint,
    Segment segment,
    Clock clock,
    Rli rli,
    Lds lds,
    Joint joint,
    Reconcile reconcile,
    Quantiles quantiles,
    Exchange exchange,
    Pipeline pipeline,
    Exporting exporting,
    Log log,
    Stats stats,
    Status status,
    Metrics metrics,
    List<EffectiveValue> effectiveValues,
    List<String> warnings) {

    /** Threads of the process: {@code threading}. */
    public enum Threading {
        PIPELINED, SHARED, SHARDED, INVOKER
    }

    /** Capture mechanisms for live interfaces. */
    public enum SourceKind {
        /** Linux TPACKET_V3 ring. */
        AFPACKET,
        /** libpcap. */
        PCAP
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

    /** How a destination is reached. */
    public enum Transport {
        /** RFC 7011 section 10.3. */
        UDP,
        /** RFC 7011 section 10.4. */
        TCP,
        /** TCP with TLS 1.2 or later, RFC 7011 section 11. */
        TLS,
        /** RFC 5655. */
        FILE
    }

    /** Whether options records are sent: {@code exporting.options}. */
    public enum OptionsMode {
        AUTO, ON, OFF
    }

    /** Role of a process in the segment. */
    public enum Role {
        /** It measures no delay. */
        NONE,
        /** It sends references. */
        SENDER,
        /** It estimates delays. */
        RECEIVER,
        /** Two points on one host, with one clock. */
        BOTH;

        /** {@return whether references leave from here} */
        public boolean isSender() {
            return this == SENDER || this == BOTH;
        }

        /** {@return whether delays are estimated here} */
        public boolean isReceiver() {
            return this == RECEIVER || this == BOTH;
        }
    }

    /** Treatment of segmentation and receive offloads: {@code segment.offload}. */
    public enum Offload {
        REFUSE, ALLOW
    }

    /** Source of the clock's error: {@code clock.source}. */
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

    /** How a packet's own size adds to its delay. */
    public enum SerialisationKind {
        /** {@link #FITTED} with passive references, {@link #NONE} with injected ones. */
        AUTO,
        /** Nothing. */
        NONE,
        /** Its transmission time at the capacity. */
        CAPACITY,
        /** The slope over references of several sizes. */
        FITTED
    }

    /** Use of the clocks' estimated drift: {@code rli.drift}. */
    public enum Drift {
        REPORT, APPLY
    }

    /** Lowest level that is logged: {@code log.level}. */
    public enum LogLevel {
        ERROR, WARN, INFO, DEBUG
    }

    /**
     * Packet sources.
     *
     * @param interfaces         to capture from; empty for files.
     * @param promiscuous        whether frames for other stations are taken.
     * @param filter             a tcpdump expression, or null.
     * @param snapLengthBytes    kept of each packet.
     * @param ringBytes          of the kernel's ring, each interface.
     * @param hardwareTimestamps whether the card's timestamps are used.
     */
    public record Capture(
        List<String> interfaces,
        SourceKind source,
        Direction direction,
        boolean promiscuous,
        String filter,
        int snapLengthBytes,
        long ringBytes,
        boolean hardwareTimestamps) {
    }

    /**
     * How headers become flow keys.
     *
     * @param fragmentPorts        whether later fragments are given the ports of the first.
     * @param fragmentTableEntries fragmented packets remembered.
     * @param fragmentTimeoutNs    how long they are remembered.
     * @param digest               whether packet digests are computed.
     * @param digestKeyFile        the digest's key, or null for a random one.
     */
    public record Decode(
        Tunnels tunnels,
        boolean fragmentPorts,
        int fragmentTableEntries,
        long fragmentTimeoutNs,
        boolean digest,
        Path digestKeyFile) {
    }

    /**
     * The flow cache.
     *
     * @param extraKeyFields  beyond the 5-tuple.
     * @param maxFlows        in the cache at once.
     * @param activeTimeoutNs after which a live flow is recorded.
     * @param idleTimeoutNs   without packets after which a flow ends.
     * @param tcpEndTimeoutNs after FIN or RST after which a flow ends.
     */
    public record Metering(
        Set<KeyField> extraKeyFields,
        int maxFlows,
        long activeTimeoutNs,
        long idleTimeoutNs,
        long tcpEndTimeoutNs) {
    }

    /**
     * Copies of live flows, restored after a crash.
     *
     * @param file that holds them; null for none.
     */
    public record Checkpoint(Path file, long intervalNs) {
    }

    /**
     * Delay between two measurement points.
     *
     * @param id             of the pair of points, an unsigned 32-bit number.
     * @param ingress        interface of the sender point of role both, or null.
     * @param egress         interface of the receiver point of role both, or null.
     * @param sources        prefixes of selected packets; empty for all.
     * @param destinations   prefixes of selected packets; empty for all.
     * @param vlanId         of selected packets; below 0 for all.
     * @param maximumDelayNs of a packet.
     * @param offload        treatment of segmentation and receive offloads.
     * @param exact          whether every packet is matched.
     * @param senderRecords  whether a sender makes flow records.
     */
    public record Segment(
        Role role,
        long id,
        String ingress,
        String egress,
        List<Prefix> sources,
        List<Prefix> destinations,
        int vlanId,
        long maximumDelayNs,
        long intervalNs,
        Offload offload,
        boolean exact,
        int exactPackets,
        boolean senderRecords) {
        /**
         * The same with other times and packets.
         *
         * @param otherMaximumDelayNs of a packet.
         */
        public Segment withTimes(final long otherMaximumDelayNs, final long otherIntervalNs, final int otherPackets) {
            return new Segment(role, id, ingress, egress, sources, destinations, vlanId, otherMaximumDelayNs, otherIntervalNs,
                offload, exact, otherPackets, senderRecords);
        }

        /** {@return the same for every packet, whatever its addresses} */
        public Segment withoutSelector() {
            return new Segment(role, id, ingress, egress, List.of(), List.of(), -1, maximumDelayNs, intervalNs, offload, exact,
                exactPackets, senderRecords);
        }
    }

    /**
     * Bound of the difference between the two points' clocks.
     *
     * @param source  where the bound is taken from.
     * @param errorNs if it is fixed.
     * @param file    that holds it, or null.
     */
    public record Clock(ClockSource source, long errorNs, Path file) {
    }

    /**
     * Reference packets and estimation from them.
     *
     * @param policy             when a reference is sent.
     * @param everyIntervalNs    from one reference to the next.
     * @param minimumUtilization up to which the rate is highest.
     * @param maximumUtilization from which the rate is lowest.
     * @param minimumRateOneIn   packets to each reference at the lowest rate.
     * @param maximumRateOneIn   packets to each reference at the highest rate.
     * @param maximumGapNs       without a reference.
     * @param smoothing          weight of the newest utilization.
     * @param capacityBps        of the bottleneck queue; 0 for unknown.
     * @param target             host receiving references, or null.
     * @param session            identifier of the first class.
     * @param keyFile            of authenticated references, or null.
     * @param classes            DSCP of each class; empty for one class.
     * @param serialisation      how a packet's own size adds to its delay.
     * @param bufferPackets      that may wait, per class.
     * @param silentAfterNs      without references after which estimates stop.
     * @param drift              use of the clocks' drift.
     * @param senders            known to a receiver; empty for one.
     * @param passivePpm         packets in a million that serve as references with policy passive.
     * @param injectionGiven     whether the policy or one of its values is configured; a receiver distributes them then.
     */
    public record Rli(
        Policy policy,
        long everyN,
        long everyIntervalNs,
        double minimumUtilization,
        double maximumUtilization,
        long minimumRateOneIn,
        long maximumRateOneIn,
        long maximumGapNs,
        double smoothing,
        long ceilingBps,
        long capacityBps,
        String target,
        int port,
        int session,
        Path keyFile,
        List<Integer> classes,
        EstimatorKind estimator,
        SerialisationKind serialisation,
        int bufferPackets,
        long silentAfterNs,
        Drift drift,
        List<Sender> senders,
        int passivePpm,
        boolean injectionGiven) {
        /** Octets of a reference with a key and a follow-up. */
        static final int KEYED_REFERENCE_BYTES = 152;

        private static final int REFERENCE_BYTES = 64;
        private static final int ETHERNET_UDP_BYTES = 14 + 8;
        private static final int IPV4_BYTES = 20;
        private static final int IPV6_BYTES = 40;
        private static final Pattern IPV4_ADDRESS = Pattern.compile("[0-9.]+");

        /** The same for a bottleneck of known capacity. */
        public Rli withSerialisationAt(final long bps) {
            return new Rli(policy, everyN, everyIntervalNs, minimumUtilization, maximumUtilization, minimumRateOneIn,
                maximumRateOneIn, maximumGapNs, smoothing, ceilingBps, bps, target, port, session, keyFile, classes, estimator,
                SerialisationKind.CAPACITY, bufferPackets, silentAfterNs, drift, senders, passivePpm, injectionGiven);
        }

        /** {@return octets of a reference on the link, as regular packets are counted} */
        public int referenceLengthBytes() {
            return referenceLengthBytes(target, keyFile != null);
        }

        /** Length of a reference's frame, each with a follow-up. A name, whose address is not known yet, counts as IPv6. */
        static int referenceLengthBytes(final String target, final boolean isKeyed) {
            final boolean isIpv4 = target == null || IPV4_ADDRESS.matcher(target).matches();
            return ETHERNET_UDP_BYTES + (isIpv4 ? IPV4_BYTES : IPV6_BYTES) + (isKeyed ? KEYED_REFERENCE_BYTES : REFERENCE_BYTES);
        }

        /** {@return number of senders, 1 or more} */
        public int senderCount() {
            return Math.max(1, senders.size());
        }

        /** {@return number of traffic classes, 1 or more} */
        public int classCount() {
            return Math.max(1, classes.size());
        }
    }

    /**
     * Sketches of both points.
     *
     * @param enabled         whether sketches are used.
     * @param ratesPpm        that each row samples, packets in a million; empty for all packets.
     * @param weights         of flows; the first rule that matches counts.
     * @param alpha           how much fuller than the emptiest cell another may be.
     * @param aggregatorCells in each bank of a class's aggregator.
     * @param inFlightPackets remembered from the end of an interval.
     * @param witnessPpm      base share of witness flows, in a million; larger flows are chosen more often.
     */
    public record Lds(
        boolean enabled,
        int rows,
        int columns,
        int vldaLength,
        List<Integer> ratesPpm,
        List<WeightRule> weights,
        double alpha,
        int aggregatorCells,
        int inFlightPackets,
        int waitingRecords,
        int witnessPpm) {
        /** The same with another shape. */
        public Lds withShape(final int otherColumns, final int otherLength) {
            return new Lds(
                enabled, rows, otherColumns, otherLength, ratesPpm, weights, alpha, aggregatorCells, inFlightPackets,
                waitingRecords, witnessPpm);
        }

        /**
         * The same with other sizes.
         *
         * @param otherVldaLength cells of a row over which a flow spreads.
         * @param otherInFlight   packets from the end of an interval.
         * @param otherRecords    that may wait.
         * @param otherPpm        witness flows in a million.
         */
        public Lds withSizes(
            final int otherColumns, final int otherVldaLength, final int otherInFlight, final int otherRecords,
            final int otherPpm) {
            return new Lds(
                enabled, rows, otherColumns, otherVldaLength, ratesPpm, weights, alpha, aggregatorCells, otherInFlight,
                otherRecords, otherPpm);
        }
    }

    /**
     * Joint estimation from references and sketches.
     *
     * @param enabled        whether it is used with sketches.
     * @param budgetNs       longest time to solve an interval.
     * @param waitNs         longest wait for estimates, after an interval's end and the maximum delay.
     * @param pendingPackets with pending estimates.
     * @param isChecked      whether bounds are checked by the sums of all flows, where both points are in one process.
     */
    public record Joint(
        boolean enabled, long budgetNs, long waitNs, int maxFlows, int pendingPackets, boolean isChecked) {
        /**
         * The same with other sizes.
         *
         * @param otherPackets with pending estimates.
         */
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

    /**
     * Reconciliation of packets that only one point has.
     *
     * @param enabled whether points reconcile their packets.
     * @param packets of an interval that each point remembers.
     * @param waitNs  longest wait for the sender's answers.
     */
    public record Reconcile(boolean enabled, int packets, int cells, long waitNs) {
        /** {@return the same, enabled} */
        public Reconcile on() {
            return new Reconcile(true, packets, cells, waitNs);
        }
    }

    /**
     * Quantiles of each flow's delays.
     *
     * @param memoryBytes of all flows' distributions; 0 for none.
     * @param fromPackets delays from which a flow has a distribution.
     */
    public record Quantiles(long memoryBytes, int fromPackets) {
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
     * @param listen       of a receiver, or null.
     * @param connect      of a sender, or null.
     * @param keyFile      with the key of both ends, or null.
     * @param deadlineNs   longest wait of a receiver for an interval, beyond the maximum delay.
     * @param memoryBytes  of sketches that a receiver may ask for, and of digests in an interval.
     * @param tls          credentials; null for plain TCP.
     * @param mode         requested by a receiver.
     * @param bandwidthBps limit for flows in mode auto.
     */
    public record Exchange(
        HostPort listen, HostPort connect, Path keyFile, long deadlineNs, long memoryBytes, Tls tls, ExchangeLimits limits,
        ExchangeMode mode, long bandwidthBps) {
    }

    /**
     * Limits of an exchange connection.
     *
     * @param maxConnections     without a session.
     * @param handshakeTimeoutNs until the session begins.
     * @param messageTimeoutNs   for the rest of a partly received message, and for the other end to read buffered octets.
     * @param sendBufferBytes    buffered for the other end.
     */
    public record ExchangeLimits(
        int maxConnections, long handshakeTimeoutNs, long messageTimeoutNs, long idleTimeoutNs, int maxMessageBytes,
        int sendBufferBytes) {
    }

    /**
     * The rings between the threads.
     *
     * @param packetRingBytes between capture and metering, a power of two.
     * @param recordRingBytes between metering and export, a power of two.
     * @param shardCount      metering threads, where threading is sharded.
     * @param idle            how a thread without work waits.
     */
    public record Pipeline(int packetRingBytes, int recordRingBytes, int shardCount, Idle idle) {
    }

    /**
     * Destinations of records.
     *
     * @param destinations     in the order of the file; may be empty for commands that print a table.
     * @param enterpriseNumber of the enterprise elements, an unsigned 32-bit number.
     */
    public record Exporting(List<Destination> destinations, long enterpriseNumber, Tls tls) {
    }

    /**
     * One destination, all its values resolved.
     *
     * @param uri                     as written, without its query.
     * @param host                    name or address without brackets; null for a file.
     * @param port                    1 to 65535; 0 for a file.
     * @param file                    the path of a file; null otherwise.
     * @param profile                 which elements a record has.
     * @param options                 whether options records are sent.
     * @param templateRefreshNs       interval of resending templates on UDP.
     * @param templateRefreshMessages messages after which templates are resent on UDP; 0 for never.
     * @param flushIntervalNs         longest wait of a record for its message to fill.
     * @param rateLimitBitsPerSecond  of IPFIX messages; 0 for no limit.
     * @param reconnectIntervalNs     between two attempts to connect.
     * @param sendBufferBytes         of the socket.
     * @param spool                   directory for records while the destination is unreachable; null for none.
     * @param spoolBytes              limit of the spool on disk.
     */
    public record Destination(
        String uri,
        Transport transport,
        String host,
        int port,
        Path file,
        Profile profile,
        boolean options,
        long optionsIntervalNs,
        int maxMessageBytes,
        long templateRefreshNs,
        int templateRefreshMessages,
        long flushIntervalNs,
        long rateLimitBitsPerSecond,
        long reconnectIntervalNs,
        long connectTimeoutNs,
        int sendBufferBytes,
        Path spool,
        long spoolBytes,
        int spoolRecordsPerSecond) {
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

    /**
     * The log.
     *
     * @param level lowest level that is logged.
     * @param file  to log to, or null for standard error.
     */
    public record Log(LogLevel level, Path file) {
    }

    /**
     * Counters for other programs.
     *
     * @param file       or null for none; the path {@code -} is standard output.
     * @param intervalNs between writes of the file; 0 for the end only.
     */
    public record Stats(Path file, long intervalNs) {
        /** {@return whether the statistics go to standard output} */
        public boolean isStandardOutput() {
            return file != null && "-".equals(file.toString());
        }
    }

    /**
     * Data for top, flows and the status page.
     *
     * @param enabled whether there is a status file.
     * @param file    of the status; null for the default name.
     * @param flows   most flows in the status.
     */
    public record Status(boolean enabled, Path file, long intervalNs, int flows) {
    }

    /**
     * HTTP for monitoring.
     *
     * @param listen      or null for none.
     * @param connections at the same time.
     */
    public record Metrics(HostPort listen, int connections) {
        /** {@return whether there is anything to serve} */
        public boolean isOn() {
            return listen != null;
        }
    }

    /** {@return number of metering threads, each with its own flow cache} */
    public int shardCount() {
        return threading == Threading.SHARDED ? pipeline.shardCount() : 1;
    }

    /**
     * Refuses threading sharded, for commands that always measure delay.
     *
     * @throws ConfigurationException if threading is sharded.
     */
    public void requireOneFlowCache() {
        if (threading != Threading.SHARDED) {
            return;
        }
        refuse(Map.of(ConfigTable.THREADING, "measures no delay, which this command does: set it to pipelined or shared"));
    }

    /**
     * Reports faults found after the configuration was built, such as in the contents of files.
     *
     * @param faults by key: fault and remedy; may be empty.
     * @throws ConfigurationException with every fault and the place of its value, if there is one.
     */
    public void refuse(final Map<ConfigKey<?>, String> faults) {
        final Problems problems = new Problems();
        for (final Map.Entry<ConfigKey<?>, String> fault : faults.entrySet()) {
            final EffectiveValue value = effectiveValue(fault.getKey());
            problems.add(value.origin(), value.path(), value.text(), fault.getValue());
        }
        problems.throwIfAny();
    }

    /**
     * The value of a key and its origin.
     *
     * @param key other than the destinations and their own settings.
     * @return its value as written.
     */
    public EffectiveValue effectiveValue(final ConfigKey<?> key) {
        return effectiveValues.stream().filter((value) -> value.path().equals(key.path())).findFirst().orElseThrow();
    }

    /** The same configuration with another threading mode. */
    public ExporterConfig withThreading(final Threading otherThreading) {
        return new ExporterConfig(observationDomainId, otherThreading, capture, decode, metering, checkpoint, segment, clock,
            rli, lds, joint, reconcile, quantiles, exchange, pipeline, exporting, log, stats, status, metrics,
            effectiveValues, warnings);
    }

    /**
     * The same configuration with another size of the flow cache.
     *
     * @param flows  in the cache at once.
     * @param octets of the distributions of their delays.
     */
    public ExporterConfig withFlows(final int flows, final long octets) {
        final Metering other = new Metering(metering.extraKeyFields(), flows, metering.activeTimeoutNs(),
            metering.idleTimeoutNs(), metering.tcpEndTimeoutNs());
        return new ExporterConfig(observationDomainId, threading, capture, decode, other, checkpoint, segment, clock,
            rli, lds, joint, reconcile, new Quantiles(octets, quantiles.fromPackets()), exchange, pipeline, exporting, log, stats,
            status, metrics, effectiveValues, warnings);
    }

    /** The same configuration with another segment. */
    public ExporterConfig withSegment(final Segment otherSegment) {
        return new ExporterConfig(observationDomainId, threading, capture, decode, metering, checkpoint, otherSegment, clock,
            rli, lds, joint, reconcile, quantiles, exchange, pipeline, exporting, log, stats, status, metrics,
            effectiveValues, warnings);
    }

    /** The same configuration with other references. */
    public ExporterConfig withRli(final Rli otherRli) {
        return new ExporterConfig(observationDomainId, threading, capture, decode, metering, checkpoint, segment, clock,
            otherRli, lds, joint, reconcile, quantiles, exchange, pipeline, exporting, log, stats, status, metrics,
            effectiveValues, warnings);
    }

    /** The same configuration with other joint estimation. */
    public ExporterConfig withJoint(final Joint otherJoint) {
        return new ExporterConfig(observationDomainId, threading, capture, decode, metering, checkpoint, segment, clock,
            rli, lds, otherJoint, reconcile, quantiles, exchange, pipeline, exporting, log, stats, status, metrics,
            effectiveValues, warnings);
    }

    /** The same configuration with other reconciliation. */
    public ExporterConfig withReconcile(final Reconcile otherReconcile) {
        return new ExporterConfig(observationDomainId, threading, capture, decode, metering, checkpoint, segment, clock,
            rli, lds, joint, otherReconcile, quantiles, exchange, pipeline, exporting, log, stats, status, metrics,
            effectiveValues, warnings);
    }

    /** The same configuration with other sketches. */
    public ExporterConfig withLds(final Lds otherLds) {
        return new ExporterConfig(observationDomainId, threading, capture, decode, metering, checkpoint, segment, clock,
            rli, otherLds, joint, reconcile, quantiles, exchange, pipeline, exporting, log, stats, status, metrics,
            effectiveValues, warnings);
    }

    /**
     * The changes that a reload cannot apply to a running process. Returns the paths of keys that differ and need a restart, in
     * the order of the reference.
     */
    public List<String> restartKeys(final ExporterConfig newer) {
        final List<String> paths = new ArrayList<>();
        for (final EffectiveValue value : newer.effectiveValues) {
            if (!value.reloadable() && !Objects.equals(value.value(), value(value.path()))) {
                paths.add(value.path());
            }
        }
        if (rli.policy() != newer.rli.policy() && (rli.policy() == Policy.PASSIVE || newer.rli.policy() == Policy.PASSIVE)) {
            paths.add(ConfigTable.POLICY.path());
        }
        return paths;
    }

    /**
     * Whether a key has its table default, so that a command may prefer another default. Returns whether the table's default
     * holds.
     */
    public boolean isDefault(final ConfigKey<?> key) {
        return effectiveValues.stream().filter((value) -> value.path().equals(key.path()))
            .allMatch((value) -> value.origin().isDefault());
    }

    private Object value(final String path) {
        for (final EffectiveValue value : effectiveValues) {
            if (value.path().equals(path)) {
                return value.value();
            }
        }
        return null;
    }
}

package io.flowlag.exporter.config;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * The effective configuration: checked whole, concluded once by {@link ConfigLoader#conclude()}, immutable, and so readable by
 * any
 * thread. Components copy from it what they need and drop it.
 *
 * @param observationDomainId in the header of every message, an unsigned 32-bit number.
 * @param decode              how headers become flow keys.
 * @param checkpoint          copies of living flows for the time after a crash.
 * @param segment             delay between two measurement points.
 * @param clock               how far their clocks may differ.
 * @param rli                 reference packets and what is made of them.
 * @param joint               references and sketches solved together.
 * @param reconcile           packets that only one point has, listed.
 * @param exchange            the connection between two points that are two processes.
 * @param pipeline            the rings between the threads.
 * @param log                 what the process says of itself.
 * @param status              for top, flows and the status page.
 * @param effectiveValues     every value with its origin, in the order of the reference.
 * @param warnings            what is allowed and yet worth a line at start.
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

    /** Threads of the process. */
    public enum Threading {
        /** One thread each for capture, metering and export. */
        PIPELINED,
        /** One thread for all. */
        SHARED,
        /** Several threads for metering. */
        SHARDED,
        /** No thread besides the caller's. */
        INVOKER
    }

    /** Capture mechanisms for live interfaces. */
    public enum SourceKind {
        /** Linux TPACKET_V3 ring. */
        AFPACKET,
        /** libpcap. */
        PCAP
    }

    /** Which way packets pass the interface. */
    public enum Direction {
        /** Into the machine. */
        IN,
        /** Out of the machine. */
        OUT,
        /** Either. */
        BOTH
    }

    /** Whose header makes the flow key of a tunnelled packet. */
    public enum Tunnels {
        /** The outermost IP header. */
        OUTER,
        /** The innermost IP header that can be reached. */
        INNER
    }

    /** Fields that a flow key may have beyond the 5-tuple. */
    public enum KeyField {
        /** The Differentiated Services code point. */
        DSCP,
        /** The VLAN identifier. */
        VLAN,
        /** The interface of arrival. */
        INTERFACE
    }

    /** What a thread without work does. */
    public enum Idle {
        /** Sleeps ever longer. */
        BACKOFF,
        /** Keeps its core. */
        SPIN,
        /** Gives its turn away. */
        YIELD
    }

    /** Which elements a record has. */
    public enum Profile {
        /** What every collector has known for ten years. */
        CLASSIC,
        /** Classic and path delay. */
        STANDARD,
        /** Standard and the enterprise elements. */
        FULL
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

    /** Whether options records are sent. */
    public enum OptionsMode {
        /** On for tcp, tls and file; off for udp. */
        AUTO,
        /** Sent. */
        ON,
        /** Not sent. */
        OFF
    }

    /** What a process is for the segment. */
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

    /** What segmentation and receive offloads mean. */
    public enum Offload {
        /** The process does not start with them. */
        REFUSE,
        /** They are let be. */
        ALLOW
    }

    /** Where the clock's error is known from. */
    public enum ClockSource {
        /** The kernel's own bound. */
        ADJTIMEX,
        /** A file that is written anew. */
        FILE,
        /** The configuration. */
        FIXED
    }

    /** When references are sent. */
    public enum Policy {
        /** By utilization, Algorithm 1 of the RLI paper. */
        ADAPTIVE,
        /** One in n packets. */
        EVERY_N,
        /** One each interval. */
        EVERY_INTERVAL,
        /** Whichever of the two is first. */
        COMBINED,
        /** None is sent: regular packets stand in for them. */
        PASSIVE
    }

    /** What the sender ships of an interval. */
    public enum ExchangeMode {
        /** Sketches. */
        SKETCH,
        /** Exact sums of every flow. */
        FLOWS,
        /** Sums of flows while they fit the bandwidth, else sketches. */
        AUTO
    }

    /** How delays are estimated. */
    public enum EstimatorKind {
        /** By a line between two references. */
        LINEAR,
        /** By the last reference. */
        LEFT
    }

    /** What a packet's own size adds to its delay. */
    public enum SerialisationKind {
        /** As the references show where packets of the traffic stand in for them, {@link #NONE} with references of our own. */
        AUTO,
        /** Nothing. */
        NONE,
        /** Its time at the capacity. */
        CAPACITY,
        /** What references of several sizes show. */
        FITTED
    }

    /** What the estimated drift of the clocks is for. */
    public enum Drift {
        /** For information. */
        REPORT,
        /** It is taken out of the delays. */
        APPLY
    }

    /** The least grave messages that are logged. */
    public enum LogLevel {
        /** What needs somebody. */
        ERROR,
        /** What may need somebody. */
        WARN,
        /** What the process does. */
        INFO,
        /** How it does it. */
        DEBUG
    }

    /**
     * Where packets come from.
     *
     * @param interfaces         to capture from; may be empty, since files need none.
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
     * @param fragmentTableEntries fragmented packets remembered at once.
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
     * @param activeTimeoutNs after which a record of a living flow is made.
     * @param idleTimeoutNs   after which a silent flow has ended.
     * @param tcpEndTimeoutNs after which a flow with FIN or RST has ended.
     */
    public record Metering(
        Set<KeyField> extraKeyFields,
        int maxFlows,
        long activeTimeoutNs,
        long idleTimeoutNs,
        long tcpEndTimeoutNs) {
    }

    /**
     * Copies of living flows for the time after a crash.
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
     * @param maximumDelayNs that a packet may be under way.
     * @param offload        what segmentation and receive offloads mean.
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
         * The same with other times and packets, for a command that knows what comes.
         *
         * @param otherMaximumDelayNs that a packet may be under way.
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
     * How far the clocks of the two points may differ.
     *
     * @param source  where that is known from.
     * @param errorNs when it is fixed.
     * @param file    that holds it, or null.
     */
    public record Clock(ClockSource source, long errorNs, Path file) {
    }

    /**
     * Reference packets and what is made of them.
     *
     * @param policy             when a reference is sent.
     * @param everyIntervalNs    from one reference to the next.
     * @param minimumUtilization up to which references are most frequent.
     * @param maximumUtilization from which on they are rarest.
     * @param minimumRateOneIn   packets to each reference at the lowest rate.
     * @param maximumRateOneIn   packets to each reference at the highest rate.
     * @param maximumGapNs       without a reference.
     * @param smoothing          weight of the newest utilization.
     * @param capacityBps        of the bottleneck queue; 0 for unknown.
     * @param target             host that references are sent to, or null.
     * @param session            identifier of the first class.
     * @param keyFile            of authenticated references, or null.
     * @param classes            DSCP of each class; empty for one class.
     * @param serialisation      what a packet's own size adds.
     * @param bufferPackets      that may wait, each class.
     * @param silentAfterNs      when estimates stop.
     * @param drift              what the clocks' drift is for.
     * @param senders            that a receiver tells apart; empty for one.
     * @param passivePpm         packets in a million that stand in for references, if the policy is passive.
     * @param injectionGiven     whether anybody gave the policy or one of its values: a receiver hands them out then.
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
        /** The same for a bottleneck that is known, where a packet's own size adds to its delay. */
        public Rli withSerialisationAt(final long bps) {
            return new Rli(policy, everyN, everyIntervalNs, minimumUtilization, maximumUtilization, minimumRateOneIn,
                maximumRateOneIn, maximumGapNs, smoothing, ceilingBps, bps, target, port, session, keyFile, classes, estimator,
                SerialisationKind.CAPACITY, bufferPackets, silentAfterNs, drift, senders, passivePpm, injectionGiven);
        }

        /** {@return octets of a reference on the link, as regular packets are counted} */
        public int referenceLengthBytes() {
            return DelayRelations.referenceLengthBytes(target, keyFile != null);
        }

        /** {@return how many senders there are, 1 or more} */
        public int senderCount() {
            return Math.max(1, senders.size());
        }

        /** {@return how many traffic classes there are, 1 or more} */
        public int classCount() {
            return Math.max(1, classes.size());
        }
    }

    /**
     * Sketches of both points.
     *
     * @param enabled         whether there are any.
     * @param ratesPpm        that each row samples, packets in a million; empty for all packets.
     * @param weights         of flows; the first rule that matches counts.
     * @param alpha           how much fuller than the emptiest a cell may be.
     * @param aggregatorCells in each bank of a class's aggregator.
     * @param inFlightPackets remembered of the end of an interval.
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
        /** The same in another shape, for a command that prefers another default. */
        public Lds withShape(final int otherColumns, final int otherLength) {
            return new Lds(
                enabled, rows, otherColumns, otherLength, ratesPpm, weights, alpha, aggregatorCells, inFlightPackets,
                waitingRecords, witnessPpm);
        }

        /**
         * The same with other sizes, for a command that knows what comes.
         *
         * @param otherVldaLength cells of a row over which a flow spreads.
         * @param otherInFlight   packets of the end of an interval.
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
     * References and sketches solved together.
     *
     * @param enabled        whether they are, where there are sketches.
     * @param budgetNs       what an interval's solution may take.
     * @param waitNs         how much longer than the maximum delay after an interval its estimates are waited for.
     * @param pendingPackets whose estimates may be under way.
     * @param isChecked      whether bounds are checked by the sums of all flows, where both points are in one process.
     */
    public record Joint(
        boolean enabled, long budgetNs, long waitNs, int maxFlows, int pendingPackets, boolean isChecked) {
        /**
         * The same with other sizes, for a command that knows what comes.
         *
         * @param otherPackets whose estimates may be under way.
         */
        public Joint withSizes(final long otherBudgetNs, final int otherFlows, final int otherPackets) {
            return new Joint(enabled, otherBudgetNs, waitNs, otherFlows, otherPackets, isChecked);
        }

        /** {@return the same, but all is solved} */
        public Joint on() {
            return new Joint(true, budgetNs, waitNs, maxFlows, pendingPackets, isChecked);
        }

        /** {@return the same, but nothing is solved} */
        public Joint off() {
            return new Joint(false, budgetNs, waitNs, maxFlows, pendingPackets, isChecked);
        }
    }

    /**
     * Packets that only one point has, listed one by one.
     *
     * @param enabled whether points reconcile their packets.
     * @param packets of an interval that each point remembers.
     * @param waitNs  how long the sender's answers are waited for.
     */
    public record Reconcile(boolean enabled, int packets, int cells, long waitNs) {
        /** {@return the same, but all is reconciled} */
        public Reconcile on() {
            return new Reconcile(true, packets, cells, waitNs);
        }
    }

    /**
     * Quantiles of each flow's delays.
     *
     * @param memoryBytes of all flows' distributions; 0 for none.
     * @param fromPackets delays that a flow must have before it gets one.
     */
    public record Quantiles(long memoryBytes, int fromPackets) {
    }

    /**
     * A sender of references as a receiver knows it.
     *
     * @param session identifier of its first class.
     * @param address that its references come from: a prefix of full length.
     * @param keyFile of its references, or null for that of all.
     * @param sources prefixes of the packets that pass it; empty for all.
     */
    public record Sender(int session, Prefix address, Path keyFile, List<Prefix> sources) {
    }

    /**
     * The connection between two points that are two processes.
     *
     * @param listen       of a receiver, or null.
     * @param connect      of a sender, or null.
     * @param keyFile      with the key of both ends, or null.
     * @param deadlineNs   how much longer than the maximum delay a receiver waits for an interval.
     * @param memoryBytes  of sketches that a receiver may ask for, and of digests in an interval.
     * @param tls          credentials; null for plain TCP.
     * @param mode         what a receiver asks for.
     * @param bandwidthBps that mode auto may take for flows.
     */
    public record Exchange(
        HostPort listen, HostPort connect, Path keyFile, long deadlineNs, long memoryBytes, Tls tls, ExchangeLimits limits,
        ExchangeMode mode, long bandwidthBps) {
    }

    /**
     * What a connection of the exchange may take.
     *
     * @param maxConnections     that have not shown who they are.
     * @param handshakeTimeoutNs until both ends have agreed to talk.
     * @param messageTimeoutNs   for a message that has begun, and for the other end to take what waits.
     * @param sendBufferBytes    that may wait for the other end.
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
     * @param idle            what a thread without work does.
     */
    public record Pipeline(int packetRingBytes, int recordRingBytes, int shardCount, Idle idle) {
    }

    /**
     * Where the records go.
     *
     * @param destinations     in the order of the file; may be empty, since some commands print a table instead.
     * @param enterpriseNumber of the enterprise elements, an unsigned 32-bit number.
     */
    public record Exporting(List<Destination> destinations, long enterpriseNumber, Tls tls) {
    }

    /**
     * One destination, all its values resolved.
     *
     * @param uri                     as it was written, without its query.
     * @param host                    name or address without brackets; null for a file.
     * @param port                    1 to 65535; 0 for a file.
     * @param file                    the path of a file; null otherwise.
     * @param profile                 which elements a record has.
     * @param options                 whether options records are sent.
     * @param templateRefreshNs       how often templates are resent on UDP.
     * @param templateRefreshMessages after how many messages they are resent on UDP; 0 is never.
     * @param flushIntervalNs         how long a record waits at most for its message to fill.
     * @param rateLimitBitsPerSecond  of IPFIX messages; 0 is no limit.
     * @param reconnectIntervalNs     between two attempts to connect.
     * @param sendBufferBytes         asked of the kernel for the socket.
     * @param spool                   where records are kept while the destination is away; null for nowhere.
     * @param spoolBytes              of disk that they may take.
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
     * What the process says of itself.
     *
     * @param level the least grave messages logged.
     * @param file  to log to, or null for standard error.
     */
    public record Log(LogLevel level, Path file) {
    }

    /**
     * Counters for other programs.
     *
     * @param file       or null for none; the path {@code -} is standard output.
     * @param intervalNs at which the file is written anew; 0: at the end only.
     */
    public record Stats(Path file, long intervalNs) {
        /** {@return whether the statistics go to standard output} */
        public boolean isStandardOutput() {
            return file != null && "-".equals(file.toString());
        }
    }

    /**
     * What top, flows and the status page show.
     *
     * @param enabled whether there is a status file.
     * @param file    of the status; null for one whose name is made.
     * @param flows   in the status at most.
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

    /** {@return how many metering threads, each with a flow cache of its own, there are} */
    public int shardCount() {
        return threading == Threading.SHARDED ? pipeline.shardCount() : 1;
    }

    /**
     * Refuses threading sharded, for a command that measures delay whatever the configuration says of it.
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
     * Refuses what was found wrong with values after they were concluded, such as what is in the files that they name.
     *
     * @param faults by key: what is wrong with its value, and the way out; may be empty.
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
     * The value of a key, and where it came from.
     *
     * @param key other than the destinations and what they have of their own.
     * @return its value as it was written.
     */
    public EffectiveValue effectiveValue(final ConfigKey<?> key) {
        return effectiveValues.stream().filter((value) -> value.path().equals(key.path())).findFirst().orElseThrow();
    }

    /** The same configuration with other threads, for a command that prefers another default. */
    public ExporterConfig withThreading(final Threading otherThreading) {
        return new ExporterConfig(observationDomainId, otherThreading, capture, decode, metering, checkpoint, segment, clock,
            rli, lds, joint, reconcile, quantiles, exchange, pipeline, exporting, log, stats, status, metrics,
            effectiveValues, warnings);
    }

    /**
     * The same configuration with room for other flows, for a command that knows how many come.
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

    /** The same configuration with another segment, for a command that knows better. */
    public ExporterConfig withSegment(final Segment otherSegment) {
        return new ExporterConfig(observationDomainId, threading, capture, decode, metering, checkpoint, otherSegment, clock,
            rli, lds, joint, reconcile, quantiles, exchange, pipeline, exporting, log, stats, status, metrics,
            effectiveValues, warnings);
    }

    /** The same configuration with other references, for a command that knows better. */
    public ExporterConfig withRli(final Rli otherRli) {
        return new ExporterConfig(observationDomainId, threading, capture, decode, metering, checkpoint, segment, clock,
            otherRli, lds, joint, reconcile, quantiles, exchange, pipeline, exporting, log, stats, status, metrics,
            effectiveValues, warnings);
    }

    /** The same configuration with other joint estimation, for a command that knows better. */
    public ExporterConfig withJoint(final Joint otherJoint) {
        return new ExporterConfig(observationDomainId, threading, capture, decode, metering, checkpoint, segment, clock,
            rli, lds, otherJoint, reconcile, quantiles, exchange, pipeline, exporting, log, stats, status, metrics,
            effectiveValues, warnings);
    }

    /** The same configuration with other reconciliation, for a command that knows better. */
    public ExporterConfig withReconcile(final Reconcile otherReconcile) {
        return new ExporterConfig(observationDomainId, threading, capture, decode, metering, checkpoint, segment, clock,
            rli, lds, joint, otherReconcile, quantiles, exchange, pipeline, exporting, log, stats, status, metrics,
            effectiveValues, warnings);
    }

    /** The same configuration with other sketches, for a command that prefers another default. */
    public ExporterConfig withLds(final Lds otherLds) {
        return new ExporterConfig(observationDomainId, threading, capture, decode, metering, checkpoint, segment, clock,
            rli, otherLds, joint, reconcile, quantiles, exchange, pipeline, exporting, log, stats, status, metrics,
            effectiveValues, warnings);
    }

    /**
     * What a reload to another configuration cannot take over in a running process. Returns the paths of keys that differ and
     * need a restart, in the order of the reference.
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

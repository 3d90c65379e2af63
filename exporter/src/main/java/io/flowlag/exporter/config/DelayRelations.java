package io.flowlag.exporter.config;

import io.flowlag.exporter.config.ExporterConfig.Policy;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.config.ExporterConfig.Sender;
import io.flowlag.exporter.config.ExporterConfig.SerialisationKind;
import io.flowlag.sketch.image.SketchGeometry;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Checks relations between the values of the sections segment, clock and rli, and requirements of roles. A default yields to a
 * given value, with a note. A given value that contradicts another is a problem.
 */
final class DelayRelations {
    /** Octets of a reference without and with a key, each with a follow-up. */
    private static final int REFERENCE_BYTES = 64;
    private static final int KEYED_REFERENCE_BYTES = 152;
    private static final int ETHERNET_UDP_BYTES = 14 + 8;
    private static final int IPV4_BYTES = 20;
    private static final int IPV6_BYTES = 40;
    private static final Pattern IPV4_ADDRESS = Pattern.compile("[0-9.]+");
    private static final double BITS_NS = 8e9;
    private static final long NS_PER_MS = 1_000_000L;
    /** Live, a packet is declared lost this long after the maximum delay. */
    private static final long LOSS_DECIDED_NS = 1500 * NS_PER_MS;
    /** Share of the exchange's bandwidth for sketches; send times, digests, witnesses and reconciliation have the rest. */
    private static final double SKETCH_SHARE = 0.4;
    private static final double SKETCH_SHARE_BESIDE_SEND_TIMES = 0.1;
    /** Share of the exchange's bandwidth for send times of passive references, unless it is configured. */
    private static final double PASSIVE_PART = 0.3;
    private static final int SEND_TIME_BITS = 64;
    private static final int CELL_BYTES = 22;
    private static final double MOST_PASSIVE_SHARE = 0.15;
    private static final long FLOWS_OF_INTERVAL = 4;
    private static final long LEAST_COLUMNS = 64;
    private static final long MILLISECOND_NS = 1_000_000;
    private static final long LEAST_WAIT_MS = 100;
    private static final int PACKETS_SHARE = 16;
    /** Memory per packet in matching. */
    private static final int PACKET_BYTES = 128;
    private static final long LEAST_PACKETS = 64 << 10;
    private static final long MOST_PACKETS = 16 << 20;
    private static final long DEFAULT_CEILING_BPS = 1_000_000;
    private static final int MAXIMUM_SESSION = 0xFFFF;
    private static final int MAXIMUM_WAIT_INTERVALS = 6;
    private static final double LEAST_RATE = 1e-6;
    /** Ethernet with two tags, IPv4 with options, TCP with options, and the 32 octets of payload that digests cover. */
    private static final int DIGEST_SNAP_BYTES = 22 + 60 + 60 + 32;
    /** Ethernet with two tags, IPv6, UDP, and an authenticated reference with a follow-up. */
    private static final int REFERENCE_SNAP_BYTES = 22 + 40 + 8 + KEYED_REFERENCE_BYTES;

    private final Map<ConfigKey<?>, Setting> settings;
    private final Problems problems;

    DelayRelations(final Map<ConfigKey<?>, Setting> settings, final Problems problems) {
        this.settings = settings;
        this.problems = problems;
    }

    void check() {
        role();
        points();
        capture();
        exact();
        digest();
        capacity();
        rates();
        listening();
        references();
        senders();
        clock();
        sketches();
        exchange();
        passive();
    }

    private void passive() {
        if (value(ConfigTable.POLICY) != Policy.PASSIVE) {
            return;
        }
        if (value(ConfigTable.ROLE) == Role.SENDER) {
            problem(ConfigTable.POLICY, "is passive by the receiver's word: leave this out, and give exchange.connect");
        } else if (value(ConfigTable.ROLE) == Role.RECEIVER && value(ConfigTable.EXCHANGE_LISTEN) == null) {
            problem(ConfigTable.POLICY, "is passive and needs exchange.listen, by which send times come");
        }
        passiveShare();
        if (isDefault(ConfigTable.MAXIMUM_GAP)) {
            giveWay(ConfigTable.MAXIMUM_GAP, value(ConfigTable.SILENT_AFTER), settings.get(ConfigTable.SILENT_AFTER).text(),
                "rli.policy is passive: as rli.silent-after");
        }
        if (value(ConfigTable.TARGET) != null) {
            problem(ConfigTable.TARGET, "rli.policy passive sends no references: leave this out");
        }
        if (value(ConfigTable.PASSIVE_SHARE) < LEAST_RATE) {
            problem(ConfigTable.PASSIVE_SHARE, "is below 0.000001: no packet would stand in for a reference");
        }
    }

    /** With an exchange, limits passive references to a part of its bandwidth, unless their share is configured. */
    private void passiveShare() {
        if (value(ConfigTable.EXCHANGE_LISTEN) == null) {
            return;
        }
        final boolean isOfBandwidth = isPassiveShareOfBandwidth();
        if (isDefault(ConfigTable.CEILING)) {
            final long ceilingBps = isOfBandwidth ? Math.round(PASSIVE_PART * value(ConfigTable.EXCHANGE_BANDWIDTH)) : 0;
            giveWay(ConfigTable.CEILING, new ReferenceCeiling(0, ceilingBps), isOfBandwidth ? Long.toString(ceilingBps) : "none",
                isOfBandwidth ? "0.3 of exchange.bandwidth, for send times" : "rli.passive-share is given");
        }
        if (isOfBandwidth) {
            giveWay(ConfigTable.PASSIVE_SHARE, MOST_PASSIVE_SHARE, "0.15", "at most, within rli.ceiling");
            waitingPackets();
        }
    }

    /** While a receiver processes an interval it falls behind; one second of packets has room. */
    private void waitingPackets() {
        final long ceilingBps = value(ConfigTable.CEILING).bps();
        final long packets = (long)(ceilingBps / (double)SEND_TIME_BITS / MOST_PASSIVE_SHARE);
        if (isDefault(ConfigTable.REFERENCE_BUFFER) && packets > value(ConfigTable.REFERENCE_BUFFER)) {
            final long room = Math.min(MOST_PACKETS, packets);
            giveWay(ConfigTable.REFERENCE_BUFFER, room, Long.toString(room), "a second of the packets beside rli.ceiling");
        }
    }

    private boolean isPassiveShareOfBandwidth() {
        return value(ConfigTable.POLICY) == Policy.PASSIVE && isDefault(ConfigTable.PASSIVE_SHARE);
    }

    /** Derives values from the exchange that both ends know. */
    private void listening() {
        final boolean isSecret = value(ConfigTable.EXCHANGE_KEY_FILE) != null || value(ConfigTable.EXCHANGE_TLS);
        if (value(ConfigTable.ROLE) == Role.RECEIVER && isSecret && isDefault(ConfigTable.EXCHANGE_LISTEN)) {
            final HostPort everywhere = new HostPort(HostPort.EVERYWHERE, HostPort.EXCHANGE_PORT);
            giveWay(ConfigTable.EXCHANGE_LISTEN, everywhere, everywhere.toString(), "there is a key, or TLS");
        }
        if (value(ConfigTable.EXCHANGE_LISTEN) != null && isDefault(ConfigTable.LDS_ENABLED)) {
            giveWay(ConfigTable.LDS_ENABLED, Boolean.TRUE, "on", "exchange.listen needs it");
        }
        sketchOfBandwidth();
        jointFlows();
        final long leftMs = (MAXIMUM_WAIT_INTERVALS * value(ConfigTable.SEGMENT_INTERVAL) - waitNs()) / MILLISECOND_NS;
        if (value(ConfigTable.EXCHANGE_LISTEN) != null && isDefault(ConfigTable.RECONCILE_WAIT) && leftMs >= LEAST_WAIT_MS &&
            leftMs * MILLISECOND_NS < value(ConfigTable.RECONCILE_WAIT)) {
            giveWay(ConfigTable.RECONCILE_WAIT, leftMs * MILLISECOND_NS, leftMs + "ms", "what segment.interval leaves");
        }
        final boolean isUsed = value(ConfigTable.EXCHANGE_LISTEN) != null || value(ConfigTable.EXCHANGE_CONNECT) != null;
        if (isUsed && isDefault(ConfigTable.RECONCILE_ENABLED)) {
            final boolean fits = value(ConfigTable.EXCHANGE_LISTEN) == null ||
                leftMs * MILLISECOND_NS >= value(ConfigTable.RECONCILE_WAIT);
            giveWay(ConfigTable.RECONCILE_ENABLED, fits, fits ? "on" : "off",
                fits ? "there is an exchange" : "segment.interval is too short for reconcile.wait");
        }
        cellsOfBandwidth();
    }

    /** If lost packets are removed from the cells, a flow needs one cell per row; a few cells then hold fewer flows each. */
    private void cellsOfBandwidth() {
        if (value(ConfigTable.EXCHANGE_LISTEN) != null && !isDefault(ConfigTable.EXCHANGE_BANDWIDTH) &&
            isDefault(ConfigTable.LDS_VLDA) && value(ConfigTable.RECONCILE_ENABLED)) {
            giveWay(ConfigTable.LDS_VLDA, 1L, "1", "exchange.bandwidth is given, and lost packets leave the cells");
        }
    }

    /** An interval has only some of the flows in the cache, which keeps earlier ones until their timeout. */
    private void jointFlows() {
        final long flows = value(ConfigTable.MAX_FLOWS) / FLOWS_OF_INTERVAL;
        if (isDefault(ConfigTable.JOINT_FLOWS) && flows > value(ConfigTable.JOINT_FLOWS)) {
            giveWay(ConfigTable.JOINT_FLOWS, flows, Long.toString(flows), "a quarter of metering.max-flows");
        }
    }

    /** Sketches that fit a given bandwidth; most nonempty cells take less than this formula assumes. */
    private void sketchOfBandwidth() {
        if (value(ConfigTable.EXCHANGE_LISTEN) == null || isDefault(ConfigTable.EXCHANGE_BANDWIDTH) ||
            !isDefault(ConfigTable.LDS_COLUMNS)) {
            return;
        }
        final double share = isPassiveShareOfBandwidth() ? SKETCH_SHARE_BESIDE_SEND_TIMES : SKETCH_SHARE;
        final double octets = share * value(ConfigTable.EXCHANGE_BANDWIDTH) * value(ConfigTable.SEGMENT_INTERVAL) / BITS_NS;
        final long columns =
            Math.max(LEAST_COLUMNS, (long)(octets / (CELL_BYTES * value(ConfigTable.LDS_ROWS))));
        if (columns < value(ConfigTable.LDS_COLUMNS)) {
            giveWay(ConfigTable.LDS_COLUMNS, columns, Long.toString(columns), "what exchange.bandwidth allows");
        }
    }

    /** Longest wait for an answer from the end of its interval. */
    private long waitNs() {
        return value(ConfigTable.MAXIMUM_DELAY) + value(ConfigTable.EXCHANGE_DEADLINE);
    }

    private void exchange() {
        for (final ConfigKey<?> key : List.of(ConfigTable.EXCHANGE_MODE, ConfigTable.EXCHANGE_BANDWIDTH)) {
            if (value(ConfigTable.EXCHANGE_LISTEN) == null && !isDefault(key)) {
                problem(key, "is for exchange.listen: the receiver decides it; give that, or leave this out");
            }
        }
        final Role role = value(ConfigTable.ROLE);
        if (value(ConfigTable.EXCHANGE_LISTEN) != null && role != Role.RECEIVER) {
            problem(ConfigTable.EXCHANGE_LISTEN, "is for segment.role receiver: leave this out");
        } else if (value(ConfigTable.EXCHANGE_LISTEN) != null && !value(ConfigTable.LDS_ENABLED)) {
            problem(ConfigTable.EXCHANGE_LISTEN, "has nothing to exchange without sketches: set lds.enabled to on");
        }
        if (value(ConfigTable.EXCHANGE_CONNECT) != null && role != Role.SENDER) {
            problem(ConfigTable.EXCHANGE_CONNECT, "is for segment.role sender: leave this out");
        } else if (value(ConfigTable.EXCHANGE_CONNECT) != null && value(ConfigTable.DIGEST_KEY_FILE) != null) {
            problem(ConfigTable.DIGEST_KEY_FILE, "the receiver hands out the key by exchange.connect: leave this out");
        }
        for (final ConfigKey<HostPort> key : List.of(ConfigTable.EXCHANGE_LISTEN, ConfigTable.EXCHANGE_CONNECT)) {
            if (value(key) != null && value(key).isAddressBeyondLoopback() &&
                value(ConfigTable.EXCHANGE_KEY_FILE) == null && !value(ConfigTable.EXCHANGE_TLS)) {
                problem(key, "is not on loopback, and the key of digests passes there: give exchange.key-file or exchange.tls, " +
                    "alike at both ends; flowlag key makes a key, run --key takes it");
            }
        }
        final boolean isUsed = value(ConfigTable.EXCHANGE_LISTEN) != null || value(ConfigTable.EXCHANGE_CONNECT) != null;
        for (final ConfigKey<?> key : List.of(ConfigTable.EXCHANGE_KEY_FILE, ConfigTable.EXCHANGE_TLS,
            ConfigTable.EXCHANGE_MAX_CONNECTIONS, ConfigTable.EXCHANGE_HANDSHAKE, ConfigTable.EXCHANGE_MESSAGE_TIMEOUT,
            ConfigTable.EXCHANGE_IDLE, ConfigTable.EXCHANGE_MAX_MESSAGE, ConfigTable.EXCHANGE_BUFFER)) {
            if (!isUsed && !isDefault(key)) {
                problem(key, "needs exchange.listen or exchange.connect: give one, or leave this out");
            }
        }
        if (value(ConfigTable.EXCHANGE_CONNECT) != null && !isDefault(ConfigTable.EXCHANGE_MAX_CONNECTIONS)) {
            problem(ConfigTable.EXCHANGE_MAX_CONNECTIONS, "is for segment.role receiver: leave this out");
        }
        if (value(ConfigTable.EXCHANGE_MESSAGE_TIMEOUT) > value(ConfigTable.EXCHANGE_IDLE)) {
            problem(blamed(ConfigTable.EXCHANGE_MESSAGE_TIMEOUT, ConfigTable.EXCHANGE_IDLE),
                "exchange.message-timeout must not be above exchange.idle-timeout: a message that takes longer is silence");
        }
        for (final ConfigKey<?> key : List.of(
            ConfigTable.EXCHANGE_TLS_CERTIFICATE, ConfigTable.EXCHANGE_TLS_KEY, ConfigTable.EXCHANGE_TLS_TRUST)) {
            if (value(ConfigTable.EXCHANGE_TLS) && value(key) == null) {
                problem(ConfigTable.EXCHANGE_TLS, "needs " + key.path() + ": name a PEM file");
            }
        }
        final long maximumNs = MAXIMUM_WAIT_INTERVALS * value(ConfigTable.SEGMENT_INTERVAL);
        final long waitNs = waitNs();
        if (value(ConfigTable.EXCHANGE_LISTEN) != null && waitNs > maximumNs) {
            problem(blamed(ConfigTable.EXCHANGE_DEADLINE, ConfigTable.SEGMENT_INTERVAL),
                "segment.max-delay and exchange.deadline must not be more than " + MAXIMUM_WAIT_INTERVALS +
                " times segment.interval together");
        } else if (value(ConfigTable.EXCHANGE_LISTEN) != null && value(ConfigTable.RECONCILE_ENABLED) &&
            waitNs + value(ConfigTable.RECONCILE_WAIT) > maximumNs) {
            problem(blamed(ConfigTable.RECONCILE_WAIT, ConfigTable.SEGMENT_INTERVAL),
                "segment.max-delay, exchange.deadline and reconcile.wait must not be more than " + MAXIMUM_WAIT_INTERVALS +
                " times segment.interval together");
        }
    }

    private void sketches() {
        final long rowCount = value(ConfigTable.LDS_ROWS);
        final List<Double> rates = value(ConfigTable.LDS_RATES);
        if (!rates.isEmpty() && rates.size() != rowCount) {
            problem(ConfigTable.LDS_RATES, "has " + rates.size() + " shares for lds.rows " + rowCount +
                ": give one for each row, or none");
        }
        if (rates.stream().anyMatch((each) -> each < LEAST_RATE)) {
            problem(ConfigTable.LDS_RATES, "has a share below 0.000001: no packet would be in that row");
        }
        if (value(ConfigTable.LDS_VLDA) > value(ConfigTable.LDS_COLUMNS)) {
            problem(blamed(ConfigTable.LDS_VLDA, ConfigTable.LDS_COLUMNS), "lds.vlda must not be above lds.columns");
        }
        if (rowCount * value(ConfigTable.LDS_COLUMNS) > SketchGeometry.MAX_CELLS) {
            problem(blamed(ConfigTable.LDS_COLUMNS, ConfigTable.LDS_ROWS), "lds.rows times lds.columns must not be above " +
                SketchGeometry.MAX_CELLS + ": a sketch is one buffer");
        }
        if (rowCount * value(ConfigTable.LDS_VLDA) * value(ConfigTable.JOINT_FLOWS) > Integer.MAX_VALUE) {
            problem(blamed(ConfigTable.JOINT_FLOWS, ConfigTable.LDS_VLDA), "joint.max-flows times lds.rows times lds.vlda, the " +
                "cells of all flows, must not be above " + Integer.MAX_VALUE);
        }
        if (value(ConfigTable.LDS_AGGREGATOR) % 2 != 0) {
            problem(ConfigTable.LDS_AGGREGATOR, "must be even: neighbouring cells are compared");
        }
        if (!value(ConfigTable.LDS_ENABLED)) {
            return;
        }
        if (value(ConfigTable.ROLE) == Role.SENDER) {
            problem(ConfigTable.LDS_ENABLED, "is the receiver's: leave this out, and give exchange.connect");
        } else if (value(ConfigTable.ROLE) != Role.BOTH && value(ConfigTable.EXCHANGE_LISTEN) == null) {
            problem(ConfigTable.LDS_ENABLED,
                "needs both points: segment.role both, or role receiver with exchange.listen");
        }
        if (value(ConfigTable.MAXIMUM_DELAY) > value(ConfigTable.SEGMENT_INTERVAL)) {
            problem(blamed(ConfigTable.MAXIMUM_DELAY, ConfigTable.SEGMENT_INTERVAL),
                "with lds.enabled, segment.max-delay must not be above segment.interval");
        }
    }

    private void senders() {
        final List<Sender> senders = value(ConfigTable.SENDERS);
        if (!senders.isEmpty() && value(ConfigTable.ROLE).isSender()) {
            problem(ConfigTable.SENDERS, "is for role receiver: a sender has rli.session alone");
        }
        final int classCount = Math.max(1, value(ConfigTable.CLASSES).size());
        for (int i = 0; i < senders.size(); i++) {
            final Sender sender = senders.get(i);
            if (sender.session() + classCount - 1 > MAXIMUM_SESSION) {
                problem(ConfigTable.SENDERS, "leaves no session for each of " + classCount + " classes below 65536");
            }
            if (senders.size() > 1 && sender.sources().isEmpty()) {
                problem(ConfigTable.SENDERS, "session " + sender.session() +
                    " needs ?source=PREFIX: which packets pass it is told by their addresses");
            }
            final List<Prefix> selected = value(ConfigTable.SEGMENT_SOURCE);
            if (!selected.isEmpty() && !sender.sources().isEmpty() &&
                sender.sources().stream().noneMatch((each) -> selected.stream().anyMatch(each::overlaps))) {
                problem(ConfigTable.SENDERS, "session " + sender.session() + ": segment.source has none of its prefixes");
            }
            for (final Sender other : senders.subList(0, i)) {
                if (Math.abs(sender.session() - other.session()) < classCount) {
                    problem(ConfigTable.SENDERS, "sessions " + other.session() + " and " + sender.session() +
                        " overlap: each sender has one for each of " + classCount + " classes");
                }
                if (sender.sources().stream().anyMatch((each) -> other.sources().stream().anyMatch(each::overlaps))) {
                    problem(ConfigTable.SENDERS, "sessions " + other.session() + " and " + sender.session() +
                        " have source prefixes in common: a packet passes one sender");
                }
            }
        }
    }

    private void role() {
        final boolean hasPoints = value(ConfigTable.INGRESS) != null && value(ConfigTable.EGRESS) != null;
        if (hasPoints && isDefault(ConfigTable.ROLE)) {
            giveWay(ConfigTable.ROLE, Role.BOTH, "both", "ingress and egress are given");
        }
    }

    private void points() {
        final Role role = value(ConfigTable.ROLE);
        for (final ConfigKey<String> key : List.of(ConfigTable.INGRESS, ConfigTable.EGRESS)) {
            if (role == Role.BOTH && value(key) == null) {
                problem(ConfigTable.ROLE, "needs " + key.path() + ": name the interface");
            } else if (role != Role.BOTH && value(key) != null) {
                problem(key, "is for role both, with ingress and egress: give both, or name it in capture.interfaces");
            }
        }
        if (role == Role.BOTH && value(ConfigTable.INGRESS) != null &&
            value(ConfigTable.INGRESS).equals(value(ConfigTable.EGRESS))) {
            problem(ConfigTable.EGRESS, "is segment.ingress too: the two points are different interfaces");
        }
        if (role == Role.BOTH && !value(ConfigTable.INTERFACES).isEmpty()) {
            problem(ConfigTable.INTERFACES, "role both captures from segment.ingress and segment.egress: leave this out");
        }
        if (role == Role.SENDER && value(ConfigTable.TARGET) == null && value(ConfigTable.EXCHANGE_CONNECT) == null) {
            problem(ConfigTable.ROLE,
                "needs rli.target, the host that references are sent to; or exchange.connect for sketches alone");
        }
    }

    private void capture() {
        if (value(ConfigTable.ROLE) == Role.NONE) {
            return;
        }
        final boolean isKeyed = value(ConfigTable.REFERENCE_KEY_FILE) != null ||
            value(ConfigTable.SENDERS).stream().anyMatch((each) -> each.keyFile() != null);
        final int leastBytes = isKeyed ? REFERENCE_SNAP_BYTES : DIGEST_SNAP_BYTES;
        if (value(ConfigTable.SNAP_LENGTH) < leastBytes) {
            problem(ConfigTable.SNAP_LENGTH, "too short for " + (isKeyed ? "authenticated references" : "packet digests") +
                " (segment.role): set " + leastBytes + " or more");
        }
        if (value(ConfigTable.ROLE) == Role.BOTH && value(ConfigTable.HARDWARE_TIMESTAMPS)) {
            problem(ConfigTable.HARDWARE_TIMESTAMPS, "leaving packets have none, and both points must have one kind " +
                "(segment.role: both): set it to off");
        }
    }

    private void exact() {
        final Role role = value(ConfigTable.ROLE);
        if (role == Role.BOTH) {
            if (isDefault(ConfigTable.EXACT)) {
                giveWay(ConfigTable.EXACT, Boolean.TRUE, "on", "role both has both points");
            } else if (!value(ConfigTable.EXACT) && value(ConfigTable.TARGET) == null &&
                value(ConfigTable.POLICY) != Policy.PASSIVE && !value(ConfigTable.LDS_ENABLED)) {
                problem(ConfigTable.EXACT, "measures nothing without rli.target: give that, or set this or lds.enabled to on");
            }
        } else if ((role == Role.SENDER || role == Role.RECEIVER) && value(ConfigTable.EXACT)) {
            problem(ConfigTable.EXACT, "needs both points in one process: role both");
        }
        if (role == Role.BOTH && value(ConfigTable.EXACT_PACKETS) == null) {
            final long memoryBytes = HostMemory.bytes();
            final long packets = automaticPackets(memoryBytes);
            giveWay(ConfigTable.EXACT_PACKETS, packets, Long.toString(packets), "auto: a sixteenth of " +
                (memoryBytes >> 20) + " MiB of memory holds so many");
        }
        final long decidedMs = (value(ConfigTable.MAXIMUM_DELAY) + LOSS_DECIDED_NS) / NS_PER_MS;
        final long endMs = Math.min(decidedMs, value(ConfigTable.IDLE_TIMEOUT) / NS_PER_MS);
        if (role == Role.BOTH && value(ConfigTable.EXACT) && isDefault(ConfigTable.TCP_END_TIMEOUT) &&
            value(ConfigTable.TCP_END_TIMEOUT) < endMs * NS_PER_MS) {
            giveWay(ConfigTable.TCP_END_TIMEOUT, endMs * NS_PER_MS, endMs + "ms",
                "segment.exact: by then it is decided which packets were lost");
        }
    }

    /** Default number of packets for live matching, from a part of the memory. */
    static long automaticPackets(final long memoryBytes) {
        return Math.max(LEAST_PACKETS, Math.min(MOST_PACKETS, memoryBytes / PACKETS_SHARE / PACKET_BYTES));
    }

    private void digest() {
        if (value(ConfigTable.ROLE) == Role.NONE || value(ConfigTable.DIGEST)) {
            return;
        }
        if (isDefault(ConfigTable.DIGEST)) {
            giveWay(ConfigTable.DIGEST, Boolean.TRUE, "on", "segment.role needs it");
        } else {
            problem(ConfigTable.DIGEST, "segment.role needs digests: leave this out");
        }
    }

    private void capacity() {
        if (value(ConfigTable.CAPACITY) != null || problems.concern(ConfigTable.CAPACITY.path())) {
            return;
        }
        if (value(ConfigTable.POLICY) == Policy.ADAPTIVE) {
            if (isDefault(ConfigTable.POLICY)) {
                giveWay(ConfigTable.POLICY, Policy.EVERY_N, "every-n", "adaptive needs rli.capacity");
            } else {
                problem(ConfigTable.POLICY, "needs rli.capacity, the rate of the bottleneck queue");
            }
        }
        if (value(ConfigTable.SERIALISATION) == SerialisationKind.CAPACITY) {
            problem(ConfigTable.SERIALISATION, "needs rli.capacity, the rate of the bottleneck queue");
        }
    }

    private void rates() {
        if (value(ConfigTable.SMOOTHING) == 0) {
            problem(ConfigTable.SMOOTHING, "must be above 0");
        }
        if (value(ConfigTable.MINIMUM_UTILIZATION) >= value(ConfigTable.MAXIMUM_UTILIZATION)) {
            problem(blamed(ConfigTable.MINIMUM_UTILIZATION, ConfigTable.MAXIMUM_UTILIZATION),
                "rli.min-utilization must be below rli.max-utilization");
        }
        if (value(ConfigTable.MINIMUM_RATE) < value(ConfigTable.MAXIMUM_RATE)) {
            problem(blamed(ConfigTable.MINIMUM_RATE, ConfigTable.MAXIMUM_RATE),
                "rli.min-rate is packets to a reference at the lowest rate: it must not be below rli.max-rate");
        }
    }

    /** Length of a reference's frame. A name, whose address is not known yet, counts as IPv6. */
    static int referenceLengthBytes(final String target, final boolean isKeyed) {
        final boolean isIpv4 = target == null || IPV4_ADDRESS.matcher(target).matches();
        return ETHERNET_UDP_BYTES + (isIpv4 ? IPV4_BYTES : IPV6_BYTES) + (isKeyed ? KEYED_REFERENCE_BYTES : REFERENCE_BYTES);
    }

    private void references() {
        if (value(ConfigTable.SERIALISATION) == SerialisationKind.FITTED && value(ConfigTable.TARGET) != null) {
            problem(ConfigTable.SERIALISATION,
                "needs references of several sizes, which those sent to rli.target are not: set capacity or none");
        }
        final int classCount = Math.max(1, value(ConfigTable.CLASSES).size());
        ceiling(classCount);
        if (value(ConfigTable.SILENT_AFTER) <= value(ConfigTable.MAXIMUM_GAP)) {
            problem(blamed(ConfigTable.SILENT_AFTER, ConfigTable.MAXIMUM_GAP),
                "rli.silent-after must be more than rli.max-gap, or a sender seems silent between two references");
        }
        if (value(ConfigTable.SESSION) + classCount - 1 > MAXIMUM_SESSION) {
            problem(ConfigTable.SESSION, "leaves no session for each of " + classCount + " classes below 65536");
        }
    }

    /** The default follows the capacity, but is never too low for the references that max-gap requires. */
    private void ceiling(final int classCount) {
        final Long capacityBps = value(ConfigTable.CAPACITY);
        if (capacityBps == null && value(ConfigTable.CEILING).isShare()) {
            if (isDefault(ConfigTable.CEILING)) {
                giveWay(ConfigTable.CEILING, new ReferenceCeiling(0, DEFAULT_CEILING_BPS), "1m", "no rli.capacity");
            } else if (!problems.concern(ConfigTable.CAPACITY.path())) {
                problem(ConfigTable.CEILING, "is a share of rli.capacity: give that, or a rate such as 1m");
                return;
            }
        }
        final int lengthBytes =
            referenceLengthBytes(value(ConfigTable.TARGET), value(ConfigTable.REFERENCE_KEY_FILE) != null);
        final long leastBps = (long)Math.ceil(classCount * lengthBytes * BITS_NS / value(ConfigTable.MAXIMUM_GAP));
        if (value(ConfigTable.CEILING).bpsAt(capacityBps == null ? Long.MAX_VALUE : capacityBps) >= leastBps) {
            return;
        }
        if (isDefault(ConfigTable.CEILING)) {
            giveWay(
                ConfigTable.CEILING, new ReferenceCeiling(0, leastBps), Long.toString(leastBps), "rli.max-gap alone takes that");
        } else {
            problem(blamed(ConfigTable.CEILING, ConfigTable.MAXIMUM_GAP), "rli.max-gap alone takes " +
                leastBps + " bits/s with " + classCount + " classes: raise rli.ceiling or rli.max-gap");
        }
    }

    private void clock() {
        final boolean isFile = value(ConfigTable.CLOCK_SOURCE) == ExporterConfig.ClockSource.FILE;
        if (isFile && value(ConfigTable.CLOCK_FILE) == null) {
            problem(ConfigTable.CLOCK_SOURCE, "needs clock.file, the path of the file that holds the error");
        } else if (!isFile && value(ConfigTable.CLOCK_FILE) != null) {
            problem(ConfigTable.CLOCK_FILE, "is read with clock.source file alone: set that, or leave this out");
        }
    }

    /** The configured one of two keys. */
    private ConfigKey<?> blamed(final ConfigKey<?> first, final ConfigKey<?> second) {
        return isDefault(first) ? second : first;
    }

    private boolean isDefault(final ConfigKey<?> key) {
        return settings.get(key).origin().isDefault();
    }

    private <T> T value(final ConfigKey<T> key) {
        return key.cast(settings.get(key).value());
    }

    private <T> void giveWay(final ConfigKey<T> key, final T value, final String text, final String note) {
        settings.put(key, new Setting(value, text, Origin.DEFAULT, note));
    }

    private void problem(final ConfigKey<?> key, final String message) {
        final Setting setting = settings.get(key);
        problems.add(setting.origin(), key.path(), setting.text(), message);
    }
}

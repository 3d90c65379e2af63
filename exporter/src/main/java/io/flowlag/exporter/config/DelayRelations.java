package io.flowlag.exporter.config;

import io.flowlag.common.config.Prefix;
import io.flowlag.common.config.Problems;
import io.flowlag.exporter.config.ExporterConfig.Policy;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.config.ExporterConfig.Sender;
import io.flowlag.exporter.config.ExporterConfig.SerialisationKind;
import io.flowlag.sketch.image.SketchGeometry;

import java.util.List;
import java.util.Map;

import static io.flowlag.exporter.config.ConfigTable.*;

/**
 * Checks relations between the values of the sections segment, clock and rli, and requirements of roles. A default yields to a
 * given value, with a note. A given value that contradicts another is a problem.
 */
final class DelayRelations extends SettingsAccess {
    private static final double BITS_NS = 8e9;
    private static final long NS_PER_MS = 1_000_000L;
    /** Live, a packet is declared lost this long after the maximum delay. */
    private static final long LOSS_DECIDED_NS = 1500 * NS_PER_MS;
    /** Share of the exchange's bandwidth for sketches; send times, digests, witnesses and reconciliation have the rest. */
    private static final double SKETCH_SHARE = 0.4;
    private static final double SKETCH_SHARE_BESIDE_SEND_TIMES = 0.1;
    /** Share of the exchange's bandwidth for send times of passive references, unless it is configured. */
    private static final double PASSIVE_PART = 0.3;
    /** Share of the exchange's bandwidth for send times of sampled flows, unless it is configured. */
    private static final double SAMPLED_PART = 0.1;
    /** Of rli.ceiling, for references by time alone. */
    private static final double GAP_PART = 0.25;
    private static final long LONGEST_GAP_MS = 100;
    private static final int SEND_TIME_BITS = 64;
    private static final int CELL_BYTES = 22;
    private static final double MOST_PASSIVE_SHARE = 0.15;
    private static final long FLOWS_OF_INTERVAL = 4;
    private static final long LEAST_COLUMNS = 64;
    private static final long LEAST_WAIT_MS = 100;
    /** Part of the memory for packets of matching. */
    static final int PACKETS_SHARE = 4;
    /** Memory per packet in matching. */
    private static final int PACKET_BYTES = 128;
    static final long LEAST_PACKETS = 64 << 10;
    private static final long MOST_PACKETS = 16 << 20;
    private static final long DEFAULT_CEILING_BPS = 1_000_000;
    private static final int MAXIMUM_SESSION = 0xFFFF;
    private static final int MAXIMUM_WAIT_INTERVALS = 6;
    private static final double LEAST_RATE = 1e-6;
    /** Ethernet with two tags, IPv4 with options, TCP with options, and the 32 octets of payload that digests cover. */
    private static final int DIGEST_SNAP_BYTES = 22 + 60 + 60 + 32;
    /** Ethernet with two tags, IPv6, UDP, and an authenticated reference with a follow-up. */
    private static final int REFERENCE_SNAP_BYTES = 22 + 40 + 8 + ExporterConfig.References.KEYED_BYTES;

    DelayRelations(final Map<ConfigKey<?>, Setting> settings, final Problems problems) {
        super(settings, problems);
    }

    void check() {
        role();
        points();
        capture();
        exact();
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
        if (value(POLICY) != Policy.PASSIVE) {
            if (value(QUANTILES_BANDWIDTH) > 0) {
                problem(QUANTILES_BANDWIDTH, "needs rli.policy passive: set that, or leave this out");
            }
            return;
        }
        if (value(ROLE) == Role.SENDER) {
            problem(POLICY, "is passive by the receiver's word: leave this out, and give exchange.connect");
        } else if (value(ROLE) == Role.RECEIVER && value(EXCHANGE_LISTEN) == null) {
            problem(POLICY, "is passive and needs exchange.listen, by which send times come");
        }
        passiveShare();
        if (isDefault(MAXIMUM_GAP)) {
            giveWay(MAXIMUM_GAP, value(SILENT_AFTER), setting(SILENT_AFTER).text(), "rli.policy is passive: as rli.silent-after");
        }
        if (value(TARGET) != null) {
            problem(TARGET, "rli.policy passive sends no references: leave this out");
        }
        if (value(PASSIVE_SHARE) < LEAST_RATE) {
            problem(PASSIVE_SHARE, "is below 0.000001: no packet would stand in for a reference");
        }
    }

    /** With an exchange, limits passive references to a part of its bandwidth, unless their share is configured. */
    private void passiveShare() {
        if (value(EXCHANGE_LISTEN) == null) {
            return;
        }
        if (isDefault(QUANTILES_BANDWIDTH) && value(QUANTILES_MEMORY) > 0) {
            final long flowsBps = Math.round(SAMPLED_PART * value(EXCHANGE_BANDWIDTH));
            giveWay(QUANTILES_BANDWIDTH, flowsBps, Long.toString(flowsBps), "0.1 of exchange.bandwidth");
        }
        final boolean isOfBandwidth = isPassiveShareOfBandwidth();
        if (isDefault(CEILING)) {
            final long ceilingBps = isOfBandwidth ? Math.round(PASSIVE_PART * value(EXCHANGE_BANDWIDTH)) : 0;
            giveWay(CEILING, new ReferenceCeiling(0, ceilingBps), isOfBandwidth ? Long.toString(ceilingBps) : "none",
                isOfBandwidth ? "0.3 of exchange.bandwidth, for send times" : "rli.passive-share is given");
        }
        if (isOfBandwidth) {
            giveWay(PASSIVE_SHARE, MOST_PASSIVE_SHARE, "0.15", "at most, within rli.ceiling");
            waitingPackets();
        }
    }

    /** While a receiver processes an interval it falls behind; one second of packets has room. */
    private void waitingPackets() {
        final long ceilingBps = value(CEILING).bps();
        final long packets = (long)(ceilingBps / (double)SEND_TIME_BITS / MOST_PASSIVE_SHARE);
        if (isDefault(REFERENCE_BUFFER) && packets > value(REFERENCE_BUFFER)) {
            final long room = Math.min(MOST_PACKETS, packets);
            giveWay(REFERENCE_BUFFER, room, Long.toString(room), "a second of the packets beside rli.ceiling");
        }
    }

    private boolean isPassiveShareOfBandwidth() {
        return value(POLICY) == Policy.PASSIVE && isDefault(PASSIVE_SHARE);
    }

    /** Derives values from the exchange that both ends know. */
    private void listening() {
        final boolean isSecret = value(EXCHANGE_KEY_FILE) != null || hasExchangeTls();
        if (value(ROLE) == Role.RECEIVER && isSecret && isDefault(EXCHANGE_LISTEN)) {
            final HostPort everywhere = new HostPort(HostPort.EVERYWHERE, HostPort.EXCHANGE_PORT);
            giveWay(EXCHANGE_LISTEN, everywhere, everywhere.toString(), "there is a key, or TLS");
        }
        if (value(EXCHANGE_LISTEN) != null && isDefault(LDS_ENABLED)) {
            giveWay(LDS_ENABLED, Boolean.TRUE, "on", "exchange.listen needs it");
        }
        sketchOfBandwidth();
        jointFlows();
        final long leftMs = (MAXIMUM_WAIT_INTERVALS * value(SEGMENT_INTERVAL) - waitNs()) / NS_PER_MS;
        if (value(EXCHANGE_LISTEN) != null && isDefault(RECONCILE_WAIT) && leftMs >= LEAST_WAIT_MS &&
            leftMs * NS_PER_MS < value(RECONCILE_WAIT)) {
            giveWay(RECONCILE_WAIT, leftMs * NS_PER_MS, leftMs + "ms", "what segment.interval leaves");
        }
        final boolean isUsed = value(EXCHANGE_LISTEN) != null || value(EXCHANGE_CONNECT) != null;
        if (isUsed && isDefault(RECONCILE_ENABLED)) {
            final boolean isSharded = value(THREADING) == ExporterConfig.Threading.SHARDED;
            final boolean fits =
                !isSharded && (value(EXCHANGE_LISTEN) == null || leftMs * NS_PER_MS >= value(RECONCILE_WAIT));
            giveWay(RECONCILE_ENABLED, fits, fits ? "on" : "off", fits ? "there is an exchange" :
                isSharded ? "threading is sharded" : "segment.interval is too short for reconcile.wait");
        }
        cellsOfBandwidth();
    }

    /** If lost packets are removed from the cells, a flow needs one cell per row; a few cells then hold fewer flows each. */
    private void cellsOfBandwidth() {
        if (value(EXCHANGE_LISTEN) != null && !isDefault(EXCHANGE_BANDWIDTH) && isDefault(LDS_VLDA) && value(RECONCILE_ENABLED)) {
            giveWay(LDS_VLDA, 1L, "1", "exchange.bandwidth is given, and lost packets leave the cells");
        }
    }

    /** An interval has only some of the flows in the cache, which keeps earlier ones until their timeout. */
    private void jointFlows() {
        final long flows = value(MAX_FLOWS) / FLOWS_OF_INTERVAL;
        if (isDefault(JOINT_FLOWS) && flows > value(JOINT_FLOWS)) {
            giveWay(JOINT_FLOWS, flows, Long.toString(flows), "a quarter of metering.max-flows");
        }
    }

    /** Sketches that fit a given bandwidth; most nonempty cells take less than this formula assumes. */
    private void sketchOfBandwidth() {
        if (value(EXCHANGE_LISTEN) == null || isDefault(EXCHANGE_BANDWIDTH) || !isDefault(LDS_COLUMNS)) {
            return;
        }
        final double share = isPassiveShareOfBandwidth() ? SKETCH_SHARE_BESIDE_SEND_TIMES : SKETCH_SHARE;
        final double octets = share * value(EXCHANGE_BANDWIDTH) * value(SEGMENT_INTERVAL) / BITS_NS;
        final long columns = Math.max(LEAST_COLUMNS, (long)(octets / (CELL_BYTES * value(LDS_ROWS))));
        if (columns < value(LDS_COLUMNS)) {
            giveWay(LDS_COLUMNS, columns, Long.toString(columns), "what exchange.bandwidth allows");
        }
    }

    /** Longest wait for an answer from the end of its interval. */
    private long waitNs() {
        return value(MAXIMUM_DELAY) + value(EXCHANGE_DEADLINE);
    }

    private void exchange() {
        for (final ConfigKey<?> key : List.of(EXCHANGE_MODE, EXCHANGE_BANDWIDTH)) {
            if (value(EXCHANGE_LISTEN) == null && !isDefault(key)) {
                problem(key, "is for exchange.listen: the receiver decides it; give that, or leave this out");
            }
        }
        final Role role = value(ROLE);
        if (value(EXCHANGE_LISTEN) != null && role != Role.RECEIVER) {
            problem(EXCHANGE_LISTEN, "is for segment.role receiver: leave this out");
        } else if (value(EXCHANGE_LISTEN) != null && !value(LDS_ENABLED)) {
            problem(EXCHANGE_LISTEN, "has nothing to exchange without sketches: set lds.enabled to on");
        }
        if (value(EXCHANGE_CONNECT) != null && role != Role.SENDER) {
            problem(EXCHANGE_CONNECT, "is for segment.role sender: leave this out");
        } else if (value(EXCHANGE_CONNECT) != null && value(DIGEST_KEY_FILE) != null) {
            problem(DIGEST_KEY_FILE, "the receiver hands out the key by exchange.connect: leave this out");
        }
        for (final ConfigKey<HostPort> key : List.of(EXCHANGE_LISTEN, EXCHANGE_CONNECT)) {
            if (value(key) != null && value(key).isAddressBeyondLoopback() &&
                value(EXCHANGE_KEY_FILE) == null && !hasExchangeTls()) {
                problem(key, "is not on loopback, and the key of digests passes there: give exchange.key-file or exchange.tls, " +
                    "alike at both ends; flowlag key makes a key, run --key takes it");
            }
        }
        final boolean isUsed = value(EXCHANGE_LISTEN) != null || value(EXCHANGE_CONNECT) != null;
        for (final ConfigKey<?> key : List.of(EXCHANGE_KEY_FILE, EXCHANGE_TLS_CERTIFICATE, EXCHANGE_TLS_KEY, EXCHANGE_TLS_TRUST,
            EXCHANGE_TLS_PEERS, EXCHANGE_MAX_CONNECTIONS, EXCHANGE_HANDSHAKE, EXCHANGE_MESSAGE_TIMEOUT, EXCHANGE_IDLE)) {
            if (!isUsed && !isDefault(key)) {
                problem(key, "needs exchange.listen or exchange.connect: give one, or leave this out");
            }
        }
        if (value(EXCHANGE_CONNECT) != null && !isDefault(EXCHANGE_MAX_CONNECTIONS)) {
            problem(EXCHANGE_MAX_CONNECTIONS, "is for segment.role receiver: leave this out");
        }
        if (value(EXCHANGE_MESSAGE_TIMEOUT) > value(EXCHANGE_IDLE)) {
            problem(blamed(EXCHANGE_MESSAGE_TIMEOUT, EXCHANGE_IDLE),
                "exchange.message-timeout must not be above exchange.idle-timeout: a message that takes longer is silence");
        }
        for (final ConfigKey<?> key : EXCHANGE_CREDENTIALS) {
            if (hasExchangeTls() && value(key) == null) {
                problem(key, "is needed too for TLS: name a PEM file, or leave the other keys of exchange.tls out");
            }
        }
        final long maximumNs = MAXIMUM_WAIT_INTERVALS * value(SEGMENT_INTERVAL);
        final long waitNs = waitNs();
        if (value(EXCHANGE_LISTEN) != null && waitNs > maximumNs) {
            problem(blamed(EXCHANGE_DEADLINE, SEGMENT_INTERVAL),
                "segment.max-delay and exchange.deadline must not be more than " + MAXIMUM_WAIT_INTERVALS +
                " times segment.interval together");
        } else if (value(EXCHANGE_LISTEN) != null && value(RECONCILE_ENABLED) && waitNs + value(RECONCILE_WAIT) > maximumNs) {
            problem(blamed(RECONCILE_WAIT, SEGMENT_INTERVAL),
                "segment.max-delay, exchange.deadline and reconcile.wait must not be more than " + MAXIMUM_WAIT_INTERVALS +
                " times segment.interval together");
        }
    }

    private void sketches() {
        final long rowCount = value(LDS_ROWS);
        final List<Double> rates = value(LDS_RATES);
        if (!rates.isEmpty() && rates.size() != rowCount) {
            problem(LDS_RATES, "has " + rates.size() + " shares for lds.rows " + rowCount + ": give one for each row, or none");
        }
        if (rates.stream().anyMatch((each) -> each < LEAST_RATE)) {
            problem(LDS_RATES, "has a share below 0.000001: no packet would be in that row");
        }
        if (value(LDS_VLDA) > value(LDS_COLUMNS)) {
            problem(blamed(LDS_VLDA, LDS_COLUMNS), "lds.vlda must not be above lds.columns");
        }
        if (rowCount * value(LDS_COLUMNS) > SketchGeometry.MAX_CELLS) {
            problem(blamed(LDS_COLUMNS, LDS_ROWS), "lds.rows times lds.columns must not be above " +
                SketchGeometry.MAX_CELLS + ": a sketch is one buffer");
        }
        if (rowCount * value(LDS_VLDA) * value(JOINT_FLOWS) > Integer.MAX_VALUE) {
            problem(blamed(JOINT_FLOWS, LDS_VLDA), "joint.max-flows times lds.rows times lds.vlda, the " +
                "cells of all flows, must not be above " + Integer.MAX_VALUE);
        }
        if (value(LDS_AGGREGATOR) % 2 != 0) {
            problem(LDS_AGGREGATOR, "must be even: neighbouring cells are compared");
        }
        if (!value(LDS_ENABLED)) {
            return;
        }
        if (value(ROLE) == Role.SENDER) {
            problem(LDS_ENABLED, "is the receiver's: leave this out, and give exchange.connect");
        } else if (value(ROLE) != Role.BOTH && value(EXCHANGE_LISTEN) == null) {
            problem(LDS_ENABLED, "needs both points: segment.role both, or role receiver with exchange.listen");
        }
        if (value(MAXIMUM_DELAY) > value(SEGMENT_INTERVAL)) {
            problem(blamed(MAXIMUM_DELAY, SEGMENT_INTERVAL),
                "with lds.enabled, segment.max-delay must not be above segment.interval");
        }
    }

    private void senders() {
        final List<Sender> senders = value(SENDERS);
        if (!senders.isEmpty() && value(ROLE).isSender()) {
            problem(SENDERS, "is for role receiver: a sender has rli.session alone");
        }
        final int classCount = Math.max(1, value(CLASSES).size());
        for (int i = 0; i < senders.size(); i++) {
            final Sender sender = senders.get(i);
            if (sender.session() + classCount - 1 > MAXIMUM_SESSION) {
                problem(SENDERS, "leaves no session for each of " + classCount + " classes below 65536");
            }
            if (senders.size() > 1 && sender.sources().isEmpty()) {
                problem(SENDERS, "session " + sender.session() +
                    " needs ?source=PREFIX, which selects its packets by address");
            }
            final List<Prefix> selected = value(SEGMENT_SOURCE);
            if (!selected.isEmpty() && !sender.sources().isEmpty() &&
                sender.sources().stream().noneMatch((each) -> selected.stream().anyMatch(each::overlaps))) {
                problem(SENDERS, "session " + sender.session() + ": segment.source has none of its prefixes");
            }
            for (final Sender other : senders.subList(0, i)) {
                if (Math.abs(sender.session() - other.session()) < classCount) {
                    problem(SENDERS, "sessions " + other.session() + " and " + sender.session() +
                        " overlap: each sender has one for each of " + classCount + " classes");
                }
                if (sender.sources().stream().anyMatch((each) -> other.sources().stream().anyMatch(each::overlaps))) {
                    problem(SENDERS, "sessions " + other.session() + " and " + sender.session() +
                        " have source prefixes in common: a packet passes one sender");
                }
            }
        }
    }

    private void role() {
        final boolean hasPoints = value(INGRESS) != null && value(EGRESS) != null;
        if (hasPoints && isDefault(ROLE)) {
            giveWay(ROLE, Role.BOTH, "both", "ingress and egress are given");
        }
    }

    private void points() {
        final Role role = value(ROLE);
        for (final ConfigKey<String> key : List.of(INGRESS, EGRESS)) {
            if (role == Role.BOTH && value(key) == null) {
                problem(ROLE, "needs " + key.path() + ": name the interface");
            } else if (role != Role.BOTH && value(key) != null) {
                problem(key, "is for role both, with ingress and egress: give both, or name it in capture.interfaces");
            }
        }
        if (role == Role.BOTH && value(INGRESS) != null && value(INGRESS).equals(value(EGRESS))) {
            problem(EGRESS, "is segment.ingress too: the two points are different interfaces");
        }
        if (role == Role.SENDER && value(TARGET) == null && value(EXCHANGE_CONNECT) == null) {
            problem(ROLE, "needs rli.target, the host that references are sent to; or exchange.connect for sketches alone");
        }
    }

    private void capture() {
        if (value(ROLE) == Role.NONE) {
            return;
        }
        final boolean isKeyed = value(REFERENCE_KEY_FILE) != null ||
            value(SENDERS).stream().anyMatch((each) -> each.keyFile() != null);
        final int leastBytes = isKeyed ? REFERENCE_SNAP_BYTES : DIGEST_SNAP_BYTES;
        if (value(SNAP_LENGTH) < leastBytes) {
            problem(SNAP_LENGTH, "too short for " + (isKeyed ? "authenticated references" : "packet digests") +
                " (segment.role): set " + leastBytes + " or more");
        }
        if (value(ROLE) == Role.BOTH && value(HARDWARE_TIMESTAMPS)) {
            problem(HARDWARE_TIMESTAMPS, "leaving packets have none, and both points must have one kind " +
                "(segment.role: both): set it to off");
        }
    }

    private void exact() {
        final Role role = value(ROLE);
        if (role == Role.BOTH) {
            if (isDefault(EXACT)) {
                giveWay(EXACT, Boolean.TRUE, "on", "role both has both points");
            } else if (!value(EXACT) && value(TARGET) == null && value(POLICY) != Policy.PASSIVE && !value(LDS_ENABLED)) {
                problem(EXACT, "measures nothing without rli.target: give that, or set this or lds.enabled to on");
            }
        } else if ((role == Role.SENDER || role == Role.RECEIVER) && value(EXACT)) {
            problem(EXACT, "needs both points in one process: role both");
        }
        if (role == Role.BOTH && value(EXACT_PACKETS) == null) {
            final long packets = automaticPackets(value(MEMORY));
            giveWay(EXACT_PACKETS, packets, Long.toString(packets), "auto: a quarter of memory=" + setting(MEMORY).text() +
                " holds so many");
        }
        final long decidedMs = (value(MAXIMUM_DELAY) + LOSS_DECIDED_NS) / NS_PER_MS;
        final long endMs = Math.min(decidedMs, value(IDLE_TIMEOUT) / NS_PER_MS);
        if (role == Role.BOTH && value(EXACT) && isDefault(TCP_END_TIMEOUT) && value(TCP_END_TIMEOUT) < endMs * NS_PER_MS) {
            giveWay(TCP_END_TIMEOUT, endMs * NS_PER_MS, endMs + "ms",
                "segment.exact: by then it is decided which packets were lost");
        }
    }

    /** Default number of packets for live matching, from a part of the memory. */
    static long automaticPackets(final long memoryBytes) {
        return Math.max(LEAST_PACKETS, Math.min(MOST_PACKETS, memoryBytes / PACKETS_SHARE / PACKET_BYTES));
    }

    private void capacity() {
        if (value(CAPACITY) != null || problems().concern(CAPACITY.path())) {
            return;
        }
        if (value(POLICY) == Policy.ADAPTIVE) {
            if (isDefault(POLICY)) {
                giveWay(POLICY, Policy.EVERY_N, "every-n", "adaptive needs rli.capacity");
            } else {
                problem(POLICY, "needs rli.capacity, the rate of the bottleneck queue");
            }
        }
        if (value(SERIALISATION) == SerialisationKind.CAPACITY) {
            problem(SERIALISATION, "needs rli.capacity, the rate of the bottleneck queue");
        }
    }

    private void rates() {
        if (value(SMOOTHING) == 0) {
            problem(SMOOTHING, "must be above 0");
        }
        if (value(MINIMUM_UTILIZATION) >= value(MAXIMUM_UTILIZATION)) {
            problem(blamed(MINIMUM_UTILIZATION, MAXIMUM_UTILIZATION), "rli.min-utilization must be below rli.max-utilization");
        }
        if (value(MINIMUM_RATE) < value(MAXIMUM_RATE)) {
            problem(blamed(MINIMUM_RATE, MAXIMUM_RATE),
                "rli.min-rate is packets to a reference at the lowest rate: it must not be below rli.max-rate");
        }
    }

    private void references() {
        if (value(SERIALISATION) == SerialisationKind.FITTED && value(TARGET) != null) {
            problem(SERIALISATION,
                "needs references of several sizes, which those sent to rli.target are not: set capacity or none");
        }
        final int classCount = Math.max(1, value(CLASSES).size());
        ceiling(classCount);
        if (value(SILENT_AFTER) <= value(MAXIMUM_GAP)) {
            problem(blamed(SILENT_AFTER, MAXIMUM_GAP),
                "rli.silent-after must be more than rli.max-gap, or a sender seems silent between two references");
        }
        if (value(SESSION) + classCount - 1 > MAXIMUM_SESSION) {
            problem(SESSION, "leaves no session for each of " + classCount + " classes below 65536");
        }
    }

    /** The default follows the capacity, but is never too low for the references that max-gap requires. */
    private void ceiling(final int classCount) {
        final Long capacityBps = value(CAPACITY);
        if (capacityBps == null && value(CEILING).isShare()) {
            if (isDefault(CEILING)) {
                giveWay(CEILING, new ReferenceCeiling(0, DEFAULT_CEILING_BPS), "1m", "no rli.capacity");
            } else if (!problems().concern(CAPACITY.path())) {
                problem(CEILING, "is a share of rli.capacity: give that, or a rate such as 1m");
                return;
            }
        }
        final int lengthBytes = ExporterConfig.References.lengthBytes(value(TARGET), value(REFERENCE_KEY_FILE) != null);
        final long ceilingBps = value(CEILING).bpsAt(capacityBps == null ? Long.MAX_VALUE : capacityBps);
        if (isDefault(MAXIMUM_GAP) && value(POLICY) != Policy.PASSIVE) {
            maximumGap(classCount * lengthBytes * BITS_NS, ceilingBps);
        }
        final long leastBps = (long)Math.ceil(classCount * lengthBytes * BITS_NS / value(MAXIMUM_GAP));
        if (ceilingBps >= leastBps) {
            return;
        }
        if (isDefault(CEILING)) {
            giveWay(CEILING, new ReferenceCeiling(0, leastBps), Long.toString(leastBps), "rli.max-gap alone takes that");
        } else {
            problem(blamed(CEILING, MAXIMUM_GAP), "rli.max-gap alone takes " +
                leastBps + " bits/s with " + classCount + " classes: raise rli.ceiling or rli.max-gap");
        }
    }

    /** On a slow link the default leaves three quarters of the ceiling to the policy. */
    private void maximumGap(final double referencesBitsNs, final long ceilingBps) {
        final double gapMs = Math.ceil(referencesBitsNs / (GAP_PART * ceilingBps) / NS_PER_MS);
        if (gapMs * NS_PER_MS > value(MAXIMUM_GAP)) {
            final long ms = (long)Math.min(gapMs, LONGEST_GAP_MS);
            giveWay(MAXIMUM_GAP, ms * NS_PER_MS, ms + "ms", "at most a quarter of rli.ceiling");
        }
    }

    private void clock() {
        if (value(CLOCK_ERROR) != null && value(CLOCK_FILE) != null) {
            problem(CLOCK_ERROR, "is fixed, and clock.file tells it anew: leave one out");
        }
        final ConfigKey<?> compared =
            value(CLOCK_CORRECT) ? CLOCK_CORRECT : value(CLOCK_REFLECTOR) == null ? null : CLOCK_REFLECTOR;
        if (compared != null && value(EXCHANGE_LISTEN) == null) {
            problem(compared, "needs exchange.listen: clocks are compared over the exchange, and corrected at the receiver");
        } else if (compared != null && value(HARDWARE_TIMESTAMPS)) {
            problem(compared, "compares the system clocks, and capture.hardware-timestamps uses those of the cards");
        }
        if (value(CLOCK_REFLECTOR) != null && value(SENDERS).size() > 1) {
            problem(CLOCK_REFLECTOR, "is the clock of one sender, and rli.senders has " + value(SENDERS).size());
        }
    }

    /** The configured one of two keys. */
    private ConfigKey<?> blamed(final ConfigKey<?> first, final ConfigKey<?> second) {
        return isDefault(first) ? second : first;
    }
}

package io.flowlag.exporter.config;

import io.flowlag.common.config.Prefix;
import io.flowlag.common.config.ValueType;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import static io.flowlag.common.config.UnitValue.*;
import static io.flowlag.exporter.config.ExporterConfig.*;
import static io.flowlag.exporter.config.ExporterConfig.Transport.*;
import static io.flowlag.exporter.config.ValueTypes.*;

/**
 * Every section of the configuration, and every key: name, type and range, default, one line of help. An expert key is one that
 * few users set. Parsing, {@code check-config}, the options of the command line, completion, the manual page and the shipped
 * example are generated from this table. Immutable, any thread.
 */
public final class ConfigTable {
    /** Limit of enterprise numbers and observation domains. */
    static final long UNSIGNED_32_MAX = 0xFFFF_FFFFL;
    /** Enterprise number reserved for documentation by RFC 5612. */
    static final long DOCUMENTATION_ENTERPRISE_NUMBER = 32473L;

    private static final Map<String, String> SECTIONS = new LinkedHashMap<>();
    private static final Map<String, ConfigKey<?>> KEYS = new LinkedHashMap<>();
    private static final Map<String, RestartReason> REASONS = new HashMap<>();
    /** Keys of earlier versions, and what replaces them. */
    private static final Map<String, String> GONE = Map.of(
        "clock.source", "give clock.error or clock.file; without them the clock error is the kernel's",
        "decode.digest", "it follows from segment.role and decode.digest-key-file: leave it out",
        "decode.fragment-timeout", "it is 30s: leave it out",
        "exchange.max-message-size", "it is 64k: leave it out",
        "exchange.send-buffer", "it is 256k: leave it out",
        "exchange.tls.enabled", "exchange.tls.certificate, key and trust switch TLS on: leave it out");

    static {
        section("", RestartReason.OPENED, "Settings of the whole process.");
        section("capture", RestartReason.OPENED,
            "Sources of live packets. Capture files are named on the command line of meter.");
        section("decode", RestartReason.RECORDS, "How headers become flow keys.");
        section("metering", RestartReason.MEMORY, "The flow cache.");
        section("checkpoint", RestartReason.OPENED,
            "Copies of live flows in a file. After a crash the next start of run restores them.");
        section("segment", RestartReason.MEASUREMENT,
            "Delay between two measurement points: which packets pass both, and the role of this process.");
        section("clock", RestartReason.MEASUREMENT, "Clock error between the two points. It is in every record with a delay.");
        section("rli", RestartReason.MEASUREMENT,
            "Reference Latency Interpolation: reference packets, and estimation at the receiver.");
        section("lds", RestartReason.MEMORY,
            "Sketches of the packets at both points, compared at the end of each measurement interval.");
        section("joint", RestartReason.MEMORY,
            "References and sketches solved together, interval by interval: the mean delay of each flow and its error bound. " +
            "Needs sketches.");
        section("reconcile", RestartReason.MEMORY,
            "Packets that only one point has, listed one by one: loss by flow is then exact. Needs sketches or sums of flows.");
        section("quantiles", RestartReason.MEMORY, "Distribution of each flow's delays, for the quantiles in the records.");
        section("exchange", RestartReason.OPENED,
            "Connection between the two points if they are two processes. The receiver listens and sends its settings to the " +
            "senders.");
        section("exchange.tls", RestartReason.OPENED,
            "Credentials of the exchange. Both ends show a certificate. A reload reads the files again.");
        section("pipeline", RestartReason.MEMORY, "Rings between the threads.");
        section("exporting", RestartReason.RECORDS,
            "Destinations of records. Keys marked with transports may also be set for one destination.");
        section("exporting.tls", null,
            "Credentials of tls destinations. Both ends show a certificate (RFC 7011 section 11.3). A reload reads the files " +
            "again, for the next connection.");
        section("log", RestartReason.OPENED, "The process's log.");
        section("stats", RestartReason.OPENED, "Counters for other programs, as JSON.");
        section("status", RestartReason.OPENED, "What flowlag top, flowlag flows and the status page show of a running process.");
        section("metrics", RestartReason.OPENED,
            "HTTP for monitoring: /metrics (Prometheus), /healthz, and a status page at /. Read only.");
    }

    public static final ConfigKey<Long> OBSERVATION_DOMAIN = row("observation-domain", number(0, UNSIGNED_32_MAX), "1",
        "Observation Domain ID in every message (RFC 7011). Each exporter of a device needs its own.")
        .restarts(RestartReason.RECORDS);
    public static final ConfigKey<Long> MEMORY = row("memory", orWord(AUTO, octets("128m", "1024g")), AUTO,
        "Most memory of run, the JVM included. Tables share it; a given size of one comes first.")
        .derived("a quarter of the host's or container's, 384m at least, and what given sizes take")
        .restarts(RestartReason.MEMORY);
    public static final ConfigKey<Threading> THREADING = expert("threading", orWord(AUTO, choice(Threading.class)), AUTO,
        "Threads: pipelined has one per stage, shared one, sharded several for metering, invoker none.")
        .derived("shared on two processors or one without a sender point, else pipelined");

    public static final ConfigKey<List<String>> INTERFACES = row("capture.interfaces", list(text("interface name")), "[]",
        "Interfaces to capture from. Command run needs at least one.").example("[eth0]");
    public static final ConfigKey<SourceKind> SOURCE = expert("capture.source", choice(SourceKind.class), "auto",
        "Capture mechanism: ebpf, afpacket (packet ring), xdp (AF_XDP, mirror ports only), or pcap (slower).")
        .derived("ebpf where the kernel allows it, else afpacket");
    public static final ConfigKey<Direction> DIRECTION = row("capture.direction", choice(Direction.class), "both",
        "Packets that enter the interface (in), leave it (out), or both.");
    static final ConfigKey<Boolean> PROMISCUOUS = expert("capture.promiscuous", onOff(), "on",
        "Captures frames addressed to other stations too, as a mirror port needs.");
    public static final ConfigKey<String> FILTER = row("capture.filter", orWord(NONE, text("tcpdump expression")), NONE,
        "Packets to measure, as a tcpdump expression. On an interface the kernel drops the others uncounted.")
        .example("ip or ip6");
    static final ConfigKey<Long> SNAP_LENGTH = expert("capture.snap-length", octets("64", "256k"), "256",
        "Octets kept of each packet. Headers suffice, because lengths come from the headers.");
    static final ConfigKey<Long> RING = expert("capture.ring", octets("1m", "1g"), "64m",
        "Kernel ring of each interface and shard (ebpf: of all processors; xdp: its frames), or kernel buffer (pcap).")
        .derived("64m, or what memory holds");
    static final ConfigKey<Boolean> HARDWARE_TIMESTAMPS = row("capture.hardware-timestamps", onOff(), "off",
        "Uses the network card's timestamps, if it has them, instead of the kernel's.");
    public static final ConfigKey<Unsuited> IN_USE = expert("capture.in-use", choice(Unsuited.class), "refuse",
        "What xdp does at an interface that the host uses, and whose packets it would take: refuse or allow.");

    public static final ConfigKey<Tunnels> TUNNELS = row("decode.tunnels", choice(Tunnels.class), "outer",
        "Measures tunnelled packets (GRE, IPIP, 6in4, VXLAN, GENEVE, GTP-U) by their outer or inner header.");
    public static final ConfigKey<Boolean> FRAGMENTS = expert("decode.fragments", onOff(), "on",
        "Gives later fragments the ports of their first fragment. With off their ports are 0.");
    static final ConfigKey<Long> FRAGMENT_TABLE = expert("decode.fragment-table", count("64", "1m"), "4k",
        "Fragmented packets remembered at once.")
        .derived("4k, or what memory holds");
    public static final ConfigKey<Path> DIGEST_KEY_FILE = expert("decode.digest-key-file", orWord(NONE, path()), NONE,
        "File with the digest's secret key, 32 hexadecimal digits, mode at most 0640. Without it the key is random.")
        .example("/etc/flowlag/digest.key");

    public static final ConfigKey<List<KeyField>> FLOW_KEY = row("metering.flow-key", list(choice(KeyField.class)), "[]",
        "Key fields beyond addresses, ports and protocol.").example("[dscp, vlan]").restarts(RestartReason.RECORDS);
    public static final ConfigKey<Long> MAX_FLOWS = expert("metering.max-flows", count("16", "8m"), "128k",
        "Flows in the cache at once (128k is 131072). When it is full, the oldest flows end early and are counted.")
        .derived("128k, or what memory holds: run without delay and checkpoint up to 1m");
    public static final ConfigKey<Long> ACTIVE_TIMEOUT = row("metering.active-timeout", duration("1ms", "1d"), "60s",
        "A flow that lasts this long gets a record and goes on.").reloads();
    public static final ConfigKey<Long> IDLE_TIMEOUT = row("metering.idle-timeout", duration("1ms", "1d"), "15s",
        "A flow without packets for this long ends. At most active-timeout.").reloads();
    static final ConfigKey<Long> TCP_END_TIMEOUT = expert("metering.tcp-end-timeout", duration("0s", "1d"), "1s",
        "How long a flow waits for late packets after TCP FIN or RST. At most idle-timeout.")
        .derived("1s; with segment.exact until lost packets are decided; at most idle-timeout")
        .reloads();
    public static final ConfigKey<Long> CUT = row("metering.cut", orWord(NONE, duration("10ms", "1d")), NONE,
        "Ends records of live flows at multiples of this time, itself one of segment.interval. At most active-timeout.")
        .example("60s").reloads();

    public static final ConfigKey<Boolean> FOLLOW_TCP = row("metering.tcp", onOff(), "off",
        "Follows TCP: round-trip times, retransmissions, packets out of order, closed windows. Takes 128 octets a flow.");
    public static final ConfigKey<Boolean> MAC = row("metering.mac", onOff(), "off",
        "Has the MAC addresses of a flow's first packet, of Ethernet. Takes 64 octets a flow.");
    public static final ConfigKey<Boolean> BIFLOW = row("metering.biflow", onOff(), "off",
        "Has both directions of a conversation in one record (RFC 5103). Not with lds.enabled, nor sharded.");
    public static final ConfigKey<Long> SAMPLING = row("metering.sample-packets", count("1", "16m"), "1",
        "Meters the first of so many packets. Collectors learn what to multiply by. Not with delay.");
    static final ConfigKey<Boolean> SAMPLE_RANDOM = expert("metering.sample-random", onOff(), "off",
        "Meters each packet by chance, one of sample-packets on average: for traffic with a period.");
    public static final ConfigKey<Long> SAMPLE_FLOWS = row("metering.sample-flows", count("1", "16m"), "1",
        "Meters one conversation in so many, both directions, by a secret hash. Not with delay.");

    static final ConfigKey<Path> CHECKPOINT_FILE = row("checkpoint.file", orWord(NONE, path()), NONE,
        "File for copies of flows, on a local disk: up to 600 octets for each of metering.max-flows.")
        .example("/var/lib/flowlag/flows.checkpoint");
    static final ConfigKey<Long> CHECKPOINT_INTERVAL = expert("checkpoint.interval", duration("100ms", "5m"), "5s",
        "How often changed flows are copied. A crash loses the packets since the last copy.");

    public static final ConfigKey<Role> ROLE = row("segment.role", choice(Role.class), "none",
        "What this process measures: none, sender (of references), receiver (estimates delays), both (on one host).");
    static final ConfigKey<Long> SEGMENT_ID = row("segment.id", number(0, UNSIGNED_32_MAX), "1",
        "Number of the pair of points, and so of the direction, in records (flowlagSegmentId).");
    public static final ConfigKey<String> INGRESS = row("segment.ingress", orWord(NONE, text("interface name")), NONE,
        "Interface where packets enter (role both). It is the sender point.").example("eth0");
    public static final ConfigKey<String> EGRESS = row("segment.egress", orWord(NONE, text("interface name")), NONE,
        "Interface where packets leave (role both). It is the receiver point.").example("eth1");
    static final ConfigKey<List<Prefix>> SEGMENT_SOURCE = row("segment.source", list(prefix()), "[]",
        "Source addresses of packets that pass both points. All addresses if empty. Equal at both points.")
        .reloads().example("[192.0.2.0/24]");
    static final ConfigKey<List<Prefix>> SEGMENT_DESTINATION = row("segment.destination", list(prefix()), "[]",
        "Destination addresses of packets that pass both points. All addresses if empty.").reloads().example("[198.51.100.0/24]");
    static final ConfigKey<Long> SEGMENT_VLAN = row("segment.vlan", orWord(NONE, number(0, 4094)), NONE,
        "VLAN id of packets that pass both points. With none, any and untagged packets.").reloads().example("100");
    public static final ConfigKey<Long> MAXIMUM_DELAY = row("segment.max-delay", duration("1us", "60s"), "200ms",
        "Longest delay of a packet. Later references are refused, and packets missing for longer are lost.");
    public static final ConfigKey<Long> SEGMENT_INTERVAL = row("segment.interval", duration("10ms", "1h"), "1s",
        "Measurement interval, over which each traffic class is summarised.").reloads();
    static final ConfigKey<Offload> OFFLOAD = expert("segment.offload", choice(Offload.class), "off",
        "Offloads that join or split packets at the points: off while run works, or refuse or allow those that are on.");
    static final ConfigKey<Boolean> EXACT = expert("segment.exact", onOff(), "off",
        "Matches every packet of both points by its digest: exact delay and loss of each flow.")
        .derived("on with role both");
    public static final ConfigKey<Long> EXACT_PACKETS = expert("segment.exact-packets", orWord(AUTO, count("1k", "16m")), AUTO,
        "Most packets in transit that matching remembers, 128 octets each. With more it matches part of the flows.")
        .derived("what a quarter of memory holds; delay: what its captures need");
    static final ConfigKey<Boolean> SENDER_RECORDS = expert("segment.sender-records", onOff(), "off",
        "Makes flow records at the sender too.");

    public static final ConfigKey<Long> CLOCK_ERROR = row("clock.error", orWord(NONE, duration("0ns", "1h")), NONE,
        "Bound of the clock error, if it is known. Without this and clock.file it is the kernel's (adjtimex).")
        .example("1us");
    static final ConfigKey<Path> CLOCK_FILE = row("clock.file", orWord(NONE, path()), NONE,
        "File whose first line is the clock error as a duration. What disciplines the clock rewrites it.")
        .example("/run/flowlag/clock-error");
    static final ConfigKey<HostPort> CLOCK_REFLECTOR = expert("clock.reflector", orWord(NONE, hostPort(true)), NONE,
        "STAMP reflector (RFC 8762, usually port 862) at the sender, by which its clock is estimated too.")
        .example("192.0.2.1:862");
    static final ConfigKey<Boolean> CLOCK_CORRECT = row("clock.correct", onOff(), "off",
        "Takes the estimated clock offset of each sender out of its delays, at a receiver with exchange.listen.");

    public static final ConfigKey<Policy> POLICY = row("rli.policy", choice(Policy.class), "adaptive",
        "When a reference is sent: adaptive, every-n, every-interval, combined. With passive, packets serve instead.")
        .derived("adaptive with rli.capacity, else every-n")
        .reloads();
    static final ConfigKey<Double> PASSIVE_SHARE = expert("rli.passive-share", fraction(), "0.01",
        "Share of packets that serve as references (passive), or, at a receiver, that tell flows' paths.")
        .derived("0.15 with policy passive over the exchange, within rli.ceiling; else 0.01");
    static final ConfigKey<Long> EVERY_N = expert("rli.every-n", number(1, 1_000_000), "100",
        "Packets per reference (every-n, combined).").reloads();
    static final ConfigKey<Long> EVERY_INTERVAL = expert("rli.every-interval", duration("1us", "10s"), "1ms",
        "Time between references (every-interval, combined).").reloads();
    static final ConfigKey<Double> MINIMUM_UTILIZATION = expert("rli.min-utilization", fraction(), "0.6",
        "Utilization up to which references are most frequent (adaptive).").reloads();
    static final ConfigKey<Double> MAXIMUM_UTILIZATION = expert("rli.max-utilization", fraction(), "0.85",
        "Utilization from which references are rarest (adaptive).").reloads();
    static final ConfigKey<Double> SMOOTHING = expert("rli.smoothing", fraction(), "0.02",
        "Weight of the newest utilization value, above 0 (adaptive; the paper's α). Each sender has its own.").reloads();
    static final ConfigKey<Long> MINIMUM_RATE = expert("rli.min-rate", number(1, 1_000_000), "300",
        "Lowest reference rate, in packets per reference (adaptive).").reloads();
    static final ConfigKey<Long> MAXIMUM_RATE = expert("rli.max-rate", number(1, 1_000_000), "10",
        "Highest reference rate, in packets per reference (adaptive).").reloads();
    static final ConfigKey<Long> MAXIMUM_GAP = expert("rli.max-gap", duration("100us", "10s"), "10ms",
        "Longest time without a reference. With passive: longest gap of interpolation.")
        .derived("10ms, up to 100ms where that costs over a quarter of rli.ceiling; rli.silent-after with policy passive")
        .reloads();
    public static final ConfigKey<ReferenceCeiling> CEILING = expert("rli.ceiling", shareOr(bitRate("1k", "100g")), "1%",
        "Most bandwidth that references of all classes use on average: a share of rli.capacity, or a rate.")
        .derived("1% of rli.capacity, else 1m; passive over the exchange 0.3 of its bandwidth, none with rli.passive-share")
        .reloads();
    /** When references are sent: what a receiver hands out. */
    static final List<ConfigKey<?>> INJECTION = List.of(
        POLICY, EVERY_N, EVERY_INTERVAL, MINIMUM_UTILIZATION, MAXIMUM_UTILIZATION, MINIMUM_RATE, MAXIMUM_RATE, MAXIMUM_GAP,
        CEILING);
    public static final ConfigKey<Long> CAPACITY = row("rli.capacity", orWord(NONE, bitRate("8k", "1000g")), NONE,
        "Rate of the bottleneck queue, such as a shaper's, in bits/s. A sender without it uses the receiver's.")
        .example("50m").reloads();
    public static final ConfigKey<String> TARGET = row("rli.target", orWord(NONE, text("host")), NONE,
        "Destination host of references: the receiver or any host behind it.").example("198.51.100.1");
    static final ConfigKey<Long> REFERENCE_PORT = expert("rli.port", number(1, 65535), "8620",
        "UDP port of references. Equal at both points.");
    static final ConfigKey<Long> SESSION = expert("rli.session", number(1, 65535), "1",
        "STAMP session identifier of the first class. Each further class has the next one. Equal at both points.");
    public static final ConfigKey<Path> REFERENCE_KEY_FILE = row("rli.key-file", orWord(NONE, path()), NONE,
        "File with the secret key of references, equal at both points; a second line has the next key.")
        .example("/etc/flowlag/reference.key");
    static final ConfigKey<List<Long>> CLASSES = row("rli.classes", list(number(0, 63)), "[]",
        "DSCP of each traffic class with a queue of its own. Other packets belong to the first.").reloads().example("[0, 46]");
    static final ConfigKey<EstimatorKind> ESTIMATOR = expert("rli.estimator", choice(EstimatorKind.class), "linear",
        "Delay estimator: linear interpolates between two references (RLI); left uses the last one (RLI-L).");
    static final ConfigKey<SerialisationKind> SERIALISATION = expert("rli.serialisation", choice(SerialisationKind.class), "auto",
        "How a packet's size adds to its delay: none, capacity (time at rli.capacity), fitted to references.")
        .derived("none for sent references; else capacity with rli.capacity, else fitted");
    static final ConfigKey<Long> REFERENCE_BUFFER = expert("rli.buffer", count("16", "16m"), "64k",
        "Packets of each class that wait for their next reference. More are counted and get no estimate.")
        .derived("64k, or what memory holds; policy passive over the exchange: a second of packets within rli.ceiling");
    static final ConfigKey<Long> SILENT_AFTER = expert("rli.silent-after", duration("1ms", "10m"), "1s",
        "Estimates stop after this time without a reference. More than rli.max-gap.");
    static final ConfigKey<Drift> DRIFT = expert("rli.drift", choice(Drift.class), "report",
        "Whether the estimated clock drift is only reported, or also subtracted from the delays (apply).");
    public static final ConfigKey<List<Sender>> SENDERS = row("rli.senders", list(sender()), "[]",
        "Senders of this receiver, each as SESSION@ADDRESS?source=PREFIX,PREFIX&key-file=PATH.")
        .example("[\"1@192.0.2.1?source=192.0.2.0/25\", \"11@192.0.2.2?source=192.0.2.128/25\"]");

    static final ConfigKey<Boolean> LDS_ENABLED = expert("lds.enabled", onOff(), "off",
        "Estimates delay and loss of each flow from sketches of both points. With exchange.listen it is on by default.")
        .derived("on with exchange.listen");
    public static final ConfigKey<Long> LDS_ROWS = expert("lds.rows", number(1, 16), "4",
        "Rows of the sketch. Each packet is in one cell of each row that samples it.").reloads();
    public static final ConfigKey<Long> LDS_COLUMNS = expert("lds.columns", count("16", "4m"), "16k",
        "Cells of a row, 32 octets each. Flows that share cells disturb one another.")
        .derived("by the load in run, up to 16k or what memory holds; with a given exchange.bandwidth, at most what fits it")
        .reloads();
    public static final ConfigKey<Long> LDS_VLDA = expert("lds.vlda", number(1, 64), "4",
        "Cells of a row over which a flow's packets spread. More cells tolerate more loss and need more columns.")
        .derived("by the load in run, up to 4; with a given exchange.bandwidth and reconcile.enabled 1")
        .reloads();
    public static final ConfigKey<List<Double>> LDS_RATES = expert("lds.rates", fractions(), "[]",
        "Share of packets that each row samples, one value per row. All packets if empty.")
        .reloads().example("[1, 0.5, 0.1, 0.01]");
    public static final ConfigKey<List<WeightRule>> LDS_WEIGHTS = row("lds.weights", list(weightRule()), "[]",
        "Flows that get better estimates at the cost of others. The first matching rule has the weight, to 10000.")
        .reloads().example("[\"proto=udp dport=5004-5005 weight=25\", \"dst=10.9.0.0/16 weight=5\"]");
    static final ConfigKey<Double> LDS_ALPHA = expert("lds.alpha", fraction(), "0.1",
        "How much fuller than a flow's emptiest cell a cell may be and still count for the mean.").reloads();
    static final ConfigKey<Long> LDS_AGGREGATOR = expert("lds.lda-cells", count("16", "1m"), "1k",
        "Cells in each of the four banks of a traffic class's aggregator (LDA). An even number.").reloads();
    public static final ConfigKey<Long> LDS_IN_FLIGHT = expert("lds.in-flight", count("16", "16m"), "64k",
        "Packets remembered from the end of an interval. With more, the loss of the interval is unknown.")
        .derived("64k, or what memory holds");
    public static final ConfigKey<Long> LDS_WAITING = expert("lds.waiting-records", count("16", "8m"), "32k",
        "Records of ended flows that wait for the end of their interval. More are made without it and counted.")
        .derived("32k, or what memory holds; with metering.cut at a receiver metering.max-flows");
    public static final ConfigKey<Double> LDS_WITNESSES = expert("lds.witnesses", fraction(), "0.01",
        "Share of flows whose exact sums the sender sends too, to calibrate estimates, 72 octets each.");

    static final ConfigKey<Boolean> JOINT_ENABLED = expert("joint.enabled", onOff(), "on",
        "Solves references and sketches together where there are sketches. With off the records have both side by side.");
    public static final ConfigKey<Long> JOINT_BUDGET = expert("joint.budget", duration("1ms", "60s"), "500ms",
        "Time that the solution of an interval may take. If it would take longer, a simpler one is made.");
    static final ConfigKey<Long> JOINT_WAIT = expert("joint.wait", duration("0s", "10s"), "300ms",
        "How much longer than segment.max-delay the last packets of an interval wait for their next reference.");
    public static final ConfigKey<Long> JOINT_FLOWS = expert("joint.max-flows", count("16", "2m"), "64k",
        "Most flows with packets in an interval that are solved. An interval with more is counted.")
        .derived("64k, or a quarter of metering.max-flows where that is more, or what memory holds");
    public static final ConfigKey<Long> JOINT_PENDING = expert("joint.pending", count("16", "16m"), "128k",
        "Packets remembered until their estimate is there, 48 octets each. At least those between two references.")
        .derived("128k, or what memory holds");
    static final ConfigKey<Boolean> JOINT_CHECK = expert("joint.check", onOff(), "off",
        "Counts how many error bounds hold, with both points in this process. 80 octets per flow, interval, point.");

    public static final ConfigKey<Boolean> RECONCILE_ENABLED = expert("reconcile.enabled", onOff(), "off",
        "Lists packets that only one point has and removes them before estimating. Needs both ends.")
        .derived("on with an exchange, if segment.interval leaves time for it");
    public static final ConfigKey<Long> RECONCILE_PACKETS = expert("reconcile.packets", count("1k", "24m"), "384k",
        "Packets of an interval that each point remembers, 43 octets each. With more, a share of the flows.")
        .derived("384k, or what memory holds");
    public static final ConfigKey<Long> RECONCILE_CELLS = expert("reconcile.cells", count("1k", "2m"), "64k",
        "Largest aggregator of a traffic class, 24 octets a cell. One missing packet needs 1.7 cells.")
        .derived("64k, or what memory holds");
    static final ConfigKey<Long> RECONCILE_WAIT = expert("reconcile.wait", duration("1ms", "10s"), "2500ms",
        "How long the receiver waits for the sender's answers about an interval.")
        .derived("2500ms, or what six of segment.interval leave");

    public static final ConfigKey<Long> QUANTILES_MEMORY = expert("quantiles.memory", octets("0", "4g"), "16m",
        "Memory of the flows' delay distributions, first come, first served. 0 switches them off.")
        .derived("16m, or what memory holds");
    static final ConfigKey<Long> QUANTILES_FROM = expert("quantiles.from-packets", number(1, 1_000_000), "8",
        "A flow gets a distribution at this delay, if there is room. Its quantiles omit the delays before.");
    static final ConfigKey<Long> QUANTILES_BANDWIDTH = expert("quantiles.bandwidth", bitRate("0", "100g"), "0",
        "With rli.policy passive, bits/s for send times of flows sampled whole. Set at the receiver.")
        .derived("0.1 of exchange.bandwidth with policy passive over the exchange, else 0");

    public static final ConfigKey<HostPort> EXCHANGE_LISTEN = row("exchange.listen", orWord(NONE, hostPort(false)), NONE,
        "Address where a receiver waits for senders. A port alone is on loopback; others need a key or TLS.")
        .derived("port 8621 of all addresses for role receiver with exchange.key-file or TLS, else none")
        .example("192.0.2.2:8621");
    public static final ConfigKey<HostPort> EXCHANGE_CONNECT = row("exchange.connect", orWord(NONE, hostPort(true)), NONE,
        "Address of the receiver (role sender). It supplies digest key, selector and sketch sizes.")
        .example("192.0.2.2:8621");
    public static final ConfigKey<Path> EXCHANGE_KEY_FILE = row("exchange.key-file", orWord(NONE, path()), NONE,
        "File with the key that both ends share, as flowlag key writes it; a second line has the next key.")
        .example("/etc/flowlag/exchange.key");
    static final ConfigKey<ExchangeMode> EXCHANGE_MODE = expert("exchange.mode", choice(ExchangeMode.class), "auto",
        "What the sender sends: sums of every flow (flows), sketches (sketch), or sums while they fit (auto).")
        .derived("sums of flows while they fit exchange.bandwidth, else sketches");
    static final ConfigKey<Long> EXCHANGE_BANDWIDTH = row("exchange.bandwidth", bitRate("8k", "100g"), "10m",
        "Bits/s that the sender may use for sums of flows; given, it bounds sketches too. Set at the receiver.");
    static final ConfigKey<Long> EXCHANGE_DEADLINE = expert("exchange.deadline", duration("100ms", "1m"), "3s",
        "How much longer than segment.max-delay the receiver and its records wait for an interval.");
    static final ConfigKey<Long> EXCHANGE_MEMORY = expert("exchange.memory", octets("64k", "16g"), "384m",
        "Octets that a receiver may ask of a sender; at the receiver, octets of digests in an interval.")
        .derived("384m, or what memory holds");
    static final ConfigKey<Long> EXCHANGE_MAX_CONNECTIONS = expert("exchange.max-connections", number(1, 10_000), "64",
        "Connections at the receiver without a session. One more replaces the oldest, or waits.");
    static final ConfigKey<Long> EXCHANGE_HANDSHAKE = expert("exchange.handshake-timeout", duration("100ms", "5m"), "10s",
        "How long a connection may take until its session begins, TLS included.");
    static final ConfigKey<Long> EXCHANGE_MESSAGE_TIMEOUT = expert("exchange.message-timeout", duration("100ms", "5m"), "10s",
        "How long a message may take to arrive once it has begun, and the other end to read any waiting octet.");
    static final ConfigKey<Long> EXCHANGE_IDLE = expert("exchange.idle-timeout", duration("300ms", "1h"), "30s",
        "How long the other end may be silent. A PING follows after a third of it.");

    public static final ConfigKey<Path> EXCHANGE_TLS_CERTIFICATE = row("exchange.tls.certificate", orWord(NONE, path()), NONE,
        "PEM file of this end's certificate, with the chain up to its authority.").example("/etc/flowlag/point.crt");
    public static final ConfigKey<Path> EXCHANGE_TLS_KEY = row("exchange.tls.key", orWord(NONE, path()), NONE,
        "PEM file of this end's private key (PKCS #8). Permissions: at most 0640.").example("/etc/flowlag/point.key");
    public static final ConfigKey<Path> EXCHANGE_TLS_TRUST = row("exchange.tls.trust", orWord(NONE, path()), NONE,
        "PEM file of the authorities that may sign the other end's certificate.").example("/etc/flowlag/authorities.pem");
    static final ConfigKey<List<String>> EXCHANGE_TLS_PEERS = row("exchange.tls.peers", list(text("DNS name")), "[]",
        "Names of which the other end's certificate needs one, besides the host of exchange.connect.")
        .example("[sender.example.net]");

    static final ConfigKey<Long> PACKET_RING = expert("pipeline.packet-ring", ringOctets("64k", "1g"), "8m",
        "Ring between capture and each metering thread. When it is full, packets are dropped and counted.")
        .derived("8m, or what memory holds");
    static final ConfigKey<Long> RECORD_RING = expert("pipeline.record-ring", ringOctets("64k", "1g"), "8m",
        "Ring between each metering thread and export. When it is full, records are dropped and counted.")
        .derived("8m, or what memory holds");
    static final ConfigKey<Long> SHARDS = expert("pipeline.shards", orWord(AUTO, number(1, 64)), AUTO,
        "Metering threads with threading sharded. Each has its own rings and part of metering.max-flows.")
        .derived("one less than processors, at least 2");
    static final ConfigKey<Idle> IDLE = expert("pipeline.idle", choice(Idle.class), "backoff",
        "What a thread without work does: backoff sleeps until packets wake it, yield gives up its turn, spin runs.");

    public static final ConfigKey<List<String>> DESTINATIONS = row("exporting.destinations", list(text("destination")), "[]",
        "Where records go: udp://HOST:PORT, tcp://, tls:// or file:PATH, or maps of uri and keys of this section.")
        .example("[\"udp://192.0.2.1:4739\"]").reloads();
    public static final ConfigKey<Profile> PROFILE = row("exporting.profile", choice(Profile.class), "full",
        "Elements of a record: classic (all collectors know them), standard (and path delay), full (all).")
        .reloads().perDestination(UDP, TCP, TLS, FILE);
    public static final ConfigKey<Long> ENTERPRISE_NUMBER = row(
        "exporting.enterprise-number", number(0, UNSIGNED_32_MAX), "32473",
        "Private Enterprise Number of the enterprise elements. 32473 is for documentation: register your own.");
    static final ConfigKey<Long> MAX_MESSAGE_SIZE = expert(
        "exporting.max-message-size", orWord(AUTO, octets("512", "65535")), AUTO,
        "Longest IPFIX message, in octets.")
        .derived("1400 on udp, to fit the path, and 16k elsewhere")
        .reloads().perDestination(UDP, TCP, TLS, FILE);
    static final ConfigKey<Long> TEMPLATE_REFRESH = expert("exporting.template-refresh", duration("1s", "1d"), "60s",
        "How often templates are sent again on udp.").reloads().perDestination(UDP);
    static final ConfigKey<Long> TEMPLATE_REFRESH_MESSAGES = expert(
        "exporting.template-refresh-messages", number(0, 1_000_000), "0",
        "Messages after which templates are sent again on udp, in addition to template-refresh. 0 means never.")
        .reloads().perDestination(UDP);
    public static final ConfigKey<OptionsMode> OPTIONS = expert("exporting.options", choice(OptionsMode.class), "auto",
        "Sends options records (statistics, element types). Over udp nfdump counts them as sequence errors.")
        .derived("on for tcp, tls and file, off for udp")
        .reloads().perDestination(UDP, TCP, TLS, FILE);
    static final ConfigKey<Long> OPTIONS_INTERVAL = expert("exporting.options-interval", duration("1s", "1d"), "60s",
        "How often options records are sent.").reloads().perDestination(UDP, TCP, TLS, FILE);
    static final ConfigKey<Long> FLUSH_INTERVAL = expert("exporting.flush-interval", duration("1ms", "1m"), "1s",
        "Longest time that a record waits for its message to fill.").reloads().perDestination(UDP, TCP, TLS, FILE);
    static final ConfigKey<Long> RATE_LIMIT = row("exporting.rate-limit", orWord(NONE, bitRate("8k", "100g")), NONE,
        "Most bits per second of IPFIX messages, so that a burst does not overrun the collector.")
        .reloads().example("20m").perDestination(UDP, TCP, TLS);
    static final ConfigKey<Long> RECONNECT_INTERVAL = expert("exporting.reconnect-interval", duration("10ms", "1d"), "60s",
        "Wait before the next connection attempt (RFC 7011: a minute or more), or retry of a spooled file.")
        .reloads().perDestination(TCP, TLS, FILE);
    static final ConfigKey<Long> CONNECT_TIMEOUT = expert("exporting.connect-timeout", duration("10ms", "5m"), "5s",
        "How long a connection attempt may take, the TLS handshake included.").reloads().perDestination(TCP, TLS);
    static final ConfigKey<Long> SEND_BUFFER = expert("exporting.send-buffer", octets("4k", "1g"), "4m",
        "Send buffer requested from the kernel for the socket.").reloads().perDestination(UDP, TCP, TLS);
    static final ConfigKey<Path> SPOOL = row("exporting.spool", orWord(NONE, path()), NONE,
        "Directory for records that wait while a collector is away. Without it they are lost and counted.")
        .example("/var/lib/flowlag/spool").reloads().perDestination(TCP, TLS, FILE);
    static final ConfigKey<Long> SPOOL_SIZE = expert("exporting.spool-size", octets("1m", "1024g"), "256m",
        "Most disk octets of a destination's spool. When it is full, the oldest records are dropped and counted.")
        .reloads().perDestination(TCP, TLS, FILE);
    static final ConfigKey<Long> SPOOL_RATE = expert("exporting.spool-rate", number(1, 10_000_000), "10000",
        "Most records per second that leave a spool, in addition to live ones.").reloads().perDestination(TCP, TLS, FILE);

    public static final ConfigKey<Path> TLS_CERTIFICATE = row("exporting.tls.certificate", orWord(NONE, path()), NONE,
        "PEM file of this end's certificate, with the chain up to its authority.").example("/etc/flowlag/exporter.crt").reloads();
    public static final ConfigKey<Path> TLS_KEY = row("exporting.tls.key", orWord(NONE, path()), NONE,
        "PEM file of this end's private key (PKCS #8). Permissions: at most 0640.")
        .example("/etc/flowlag/exporter.key").reloads();
    public static final ConfigKey<Path> TLS_TRUST = row("exporting.tls.trust", orWord(NONE, path()), NONE,
        "PEM file of the authorities that may sign the collector's certificate.")
        .example("/etc/flowlag/authorities.pem").reloads();
    public static final ConfigKey<List<String>> TLS_PEERS = row("exporting.tls.peers", list(text("DNS name")), "[]",
        "Names of which the collector's certificate needs one. It always needs the host of the URI.")
        .example("[collector.example.net]").reloads();

    public static final ConfigKey<LogLevel> LOG_LEVEL = row("log.level", choice(LogLevel.class), "info",
        "Lowest severity that is logged: error, warn, info, debug.").reloads();
    public static final ConfigKey<Path> LOG_FILE = row("log.file", orWord(NONE, path()), NONE,
        "File to log to, instead of standard error.").example("/var/log/flowlag.log");

    public static final ConfigKey<Path> STATS_FILE = row("stats.file", orWord(NONE, path()), NONE,
        "File for the counters at the end, or - for standard output.").example("/run/flowlag/stats.json");
    static final ConfigKey<Long> STATS_INTERVAL = row("stats.interval", orWord(NONE, duration("100ms", "1d")), NONE,
        "How often the file is rewritten while the process runs.").example("10s").reloads();

    static final ConfigKey<Boolean> STATUS_ENABLED = expert("status.enabled", onOff(), "on",
        "Keeps a status file while run works, for top and flows on the same machine.");
    static final ConfigKey<Path> STATUS_FILE = expert("status.file", orWord(AUTO, path()), AUTO,
        "Status file of this process. What top and flows show is from it.")
        .derived("flowlag-PID.status in the first writable of $RUNTIME_DIRECTORY, /run/flowlag, $XDG_RUNTIME_DIR/flowlag " +
            "and /tmp")
        .example("/run/flowlag/exporter.status");
    static final ConfigKey<Long> STATUS_INTERVAL = expert("status.interval", duration("100ms", "1m"), "1s",
        "How often the status is written, and so the age of what top, flows, metrics and the status page show.");
    static final ConfigKey<Long> STATUS_FLOWS = expert("status.flows", count("16", "16k"), "1k",
        "Most flows in the status: the slowest of the last minute, or the largest where no delay is measured.")
        .derived("1k, or what memory holds");

    public static final ConfigKey<HostPort> METRICS_LISTEN = row("metrics.listen", orWord(NONE, hostPort(false)), NONE,
        "Address of the metrics and the status page. A port alone is on loopback. There is no password.")
        .example("127.0.0.1:9471");
    static final ConfigKey<Long> METRICS_CONNECTIONS = expert("metrics.connections", number(1, 1024), "32",
        "Connections at the same time. One more ends the one that has waited longest.");

    static {
        for (final ConfigKey<?> key : KEYS.values()) {
            if (key.isReloadable() == (key.restartReason() != null)) {
                throw new IllegalStateException(key + " is not taken over on reload and does not say why");
            }
        }
    }

    private ConfigTable() {
    }

    /** {@return every key, in the order of the reference} */
    public static List<ConfigKey<?>> keys() {
        return List.copyOf(KEYS.values());
    }

    /** {@return the key of a path, its parts joined by dots; null if there is none} */
    public static ConfigKey<?> key(final String path) {
        return KEYS.get(path);
    }

    /** {@return what replaces a key that earlier versions had; null for no such key} */
    public static String replacement(final String path) {
        return GONE.get(path);
    }

    /** {@return the paths of the sections, in order; the first is empty} */
    public static List<String> sections() {
        return List.copyOf(SECTIONS.keySet());
    }

    /** {@return whether there is a section of that path} */
    static boolean isSection(final String path) {
        return SECTIONS.containsKey(path);
    }

    /** One sentence on a section. */
    public static String sectionDescription(final String section) {
        return SECTIONS.get(section);
    }

    /** The keys of a section, without those of sections inside it. Returns the keys, in order. */
    public static List<ConfigKey<?>> keysOf(final String section) {
        return KEYS.values().stream().filter((key) -> key.section().equals(section)).toList();
    }

    /** The keys of a section that are for experts, or the others. Returns the keys, in order. */
    public static List<ConfigKey<?>> keysOf(final String section, final boolean isExpert) {
        return keysOf(section).stream().filter((key) -> key.isExpert() == isExpert).toList();
    }

    /** {@return the names that may stand in a section: keys and sections} */
    static List<String> namesIn(final String section) {
        final List<String> names = new ArrayList<>();
        keysOf(section).forEach((key) -> names.add(key.name()));
        for (final String candidate : SECTIONS.keySet()) {
            if (!candidate.isEmpty() && parent(candidate).equals(section)) {
                names.add(candidate.substring(candidate.lastIndexOf('.') + 1));
            }
        }
        return names;
    }

    /** {@return the keys that a destination may set for itself} */
    static List<ConfigKey<?>> destinationKeys() {
        return KEYS.values().stream().filter(ConfigKey::isPerDestination).toList();
    }

    private static String parent(final String path) {
        return path.contains(".") ? path.substring(0, path.lastIndexOf('.')) : "";
    }

    /** A section. Its reason applies to those of its keys that do not reload and have no reason of their own. */
    private static void section(final String path, final RestartReason reason, final String description) {
        SECTIONS.put(path, description);
        REASONS.put(path, reason);
    }

    private static <T> ConfigKey<T> expert(
        final String path, final ValueType<T> type, final String defaultText, final String description) {
        return row(path, type, defaultText, description).forExperts();
    }

    private static <T> ConfigKey<T> row(
        final String path, final ValueType<T> type, final String defaultText, final String description) {
        final ConfigKey<T> key = new ConfigKey<>(path, type, defaultText, description);
        if (KEYS.put(path, key) != null || !SECTIONS.containsKey(key.section())) {
            throw new IllegalStateException("row " + key);
        }
        return key.restarts(REASONS.get(key.section()));
    }
}

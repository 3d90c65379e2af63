package io.flowlag.exporter.config;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import static io.flowlag.exporter.config.ExporterConfig.Transport.FILE;
import static io.flowlag.exporter.config.ExporterConfig.Transport.TCP;
import static io.flowlag.exporter.config.ExporterConfig.Transport.TLS;
import static io.flowlag.exporter.config.ExporterConfig.Transport.UDP;
import static io.flowlag.exporter.config.UnitValue.bitRate;
import static io.flowlag.exporter.config.UnitValue.count;
import static io.flowlag.exporter.config.UnitValue.duration;
import static io.flowlag.exporter.config.UnitValue.octets;
import static io.flowlag.exporter.config.UnitValue.ringOctets;
import static io.flowlag.exporter.config.ValueTypes.AUTO;
import static io.flowlag.exporter.config.ValueTypes.NONE;
import static io.flowlag.exporter.config.ValueTypes.choice;
import static io.flowlag.exporter.config.ValueTypes.fraction;
import static io.flowlag.exporter.config.ValueTypes.fractions;
import static io.flowlag.exporter.config.ValueTypes.hostPort;
import static io.flowlag.exporter.config.ValueTypes.list;
import static io.flowlag.exporter.config.ValueTypes.number;
import static io.flowlag.exporter.config.ValueTypes.onOff;
import static io.flowlag.exporter.config.ValueTypes.orWord;
import static io.flowlag.exporter.config.ValueTypes.path;
import static io.flowlag.exporter.config.ValueTypes.prefix;
import static io.flowlag.exporter.config.ValueTypes.sender;
import static io.flowlag.exporter.config.ValueTypes.shareOr;
import static io.flowlag.exporter.config.ValueTypes.text;
import static io.flowlag.exporter.config.ValueTypes.weightRule;

/**
 * Every key of the configuration, once: name, type and range, default, what it does. Parsing, {@code check-config}, the options
 * of the command line, the reference in {@code docs/configuration.md} and the shipped example are made from this table.
 * Immutable, any thread.
 */
public final class ConfigTable {
    /** Enterprise numbers end here; so do observation domains. */
    static final long UNSIGNED_32_MAX = 0xFFFF_FFFFL;
    /** The number that RFC 5612 reserves for documentation. */
    static final long DOCUMENTATION_ENTERPRISE_NUMBER = 32473L;
    /** The number that RFC 5103 gives to reverse elements. */
    static final long REVERSE_ENTERPRISE_NUMBER = 29305L;

    private static final Map<String, String> SECTIONS = new LinkedHashMap<>();
    private static final Map<String, ConfigKey<?>> KEYS = new LinkedHashMap<>();
    private static final Map<String, RestartReason> REASONS = new HashMap<>();

    static {
        section("", RestartReason.OPENED, "What concerns the whole process.");
    }

    /** The Observation Domain. */
    public static final ConfigKey<Long> OBSERVATION_DOMAIN = row(ConfigKey.of(
        "observation-domain", number(0, UNSIGNED_32_MAX), "1",
        "Observation Domain ID in the header of every message (RFC 7011 section 3.1); give every exporter of a device its " +
        "own.")
        .restarts(RestartReason.RECORDS));
    /** How the agents are spread over threads. */
    public static final ConfigKey<ExporterConfig.Threading> THREADING = row(ConfigKey.of(
        "threading", choice(ExporterConfig.Threading.class), "pipelined",
        "Threads of the process: pipelined is one each for capture, metering and export; shared is one for all three; " +
        "sharded is several for metering, see pipeline.shards; invoker is none beside the caller's, for files and tests."));

    static {
        section("capture", RestartReason.OPENED, "Where packets come from (live). Files are named on the command line of meter.");
    }

    /** The interfaces. */
    public static final ConfigKey<List<String>> INTERFACES = row(ConfigKey.of(
        "capture.interfaces", list(text("interface name")), "[]",
        "Interfaces to capture from; run needs at least one.")
        .example("[eth0]"));
    /** Which capture mechanism. */
    public static final ConfigKey<ExporterConfig.SourceKind> SOURCE = row(ConfigKey.of(
        "capture.source", choice(ExporterConfig.SourceKind.class), "afpacket",
        "How packets are captured: afpacket is the Linux packet ring, read in place; pcap is libpcap, portable and " +
        "slower."));
    /** Which way the packets travel. */
    public static final ConfigKey<ExporterConfig.Direction> DIRECTION = row(ConfigKey.of(
        "capture.direction", choice(ExporterConfig.Direction.class), "both",
        "Packets that enter the interface (in), leave it (out), or both."));
    /** Whether frames for other stations are taken. */
    public static final ConfigKey<Boolean> PROMISCUOUS = row(ConfigKey.of(
        "capture.promiscuous", onOff(), "on",
        "Take frames addressed to other stations too, as on a mirror port."));
    /** The filter expression. */
    public static final ConfigKey<String> FILTER = row(ConfigKey.of(
        "capture.filter", orWord(NONE, text("tcpdump expression")), NONE,
        "Packets to measure, as a tcpdump expression. Of an interface the kernel keeps the others back, so they are not part " +
        "of captured; of capture files they count as filtered.")
        .example("ip or ip6"));
    /** Octets kept of a packet. */
    public static final ConfigKey<Long> SNAP_LENGTH = row(ConfigKey.of(
        "capture.snap-length", octets("64", "256k"), "256",
        "Octets kept of each packet; headers are enough, since lengths come from the headers."));
    /** Octets of the kernel's ring. */
    public static final ConfigKey<Long> RING = row(ConfigKey.of(
        "capture.ring", octets("1m", "1g"), "64m",
        "Kernel ring of each interface (afpacket), with threading sharded of each shard, or kernel buffer (pcap)."));
    /** Whether the card's timestamps are used. */
    public static final ConfigKey<Boolean> HARDWARE_TIMESTAMPS = row(ConfigKey.of(
        "capture.hardware-timestamps", onOff(), "off",
        "Use the card's own timestamps where it has them, instead of the kernel's."));

    static {
        section("decode", RestartReason.RECORDS, "How headers become flow keys.");
    }

    /** Whose header counts when a packet is in a tunnel. */
    public static final ConfigKey<ExporterConfig.Tunnels> TUNNELS = row(ConfigKey.of(
        "decode.tunnels", choice(ExporterConfig.Tunnels.class), "outer",
        "Measure a tunnelled packet by its outer or its inner header; tunnels are GRE, IPIP, 6in4, VXLAN, GENEVE and GTP-U."));
    /** Whether later fragments are given ports. */
    public static final ConfigKey<Boolean> FRAGMENTS = row(ConfigKey.of(
        "decode.fragments", onOff(), "on",
        "Give later fragments the ports of their first fragment; off leaves their ports 0."));
    /** Entries of the fragment table. */
    public static final ConfigKey<Long> FRAGMENT_TABLE = row(ConfigKey.of(
        "decode.fragment-table", count("64", "1m"), "4k",
        "Fragmented packets remembered at once."));
    /** How long a first fragment is remembered. */
    public static final ConfigKey<Long> FRAGMENT_TIMEOUT = row(ConfigKey.of(
        "decode.fragment-timeout", duration("1ms", "5m"), "30s",
        "How long the ports of a first fragment are remembered."));
    /** Whether packet digests are computed. */
    public static final ConfigKey<Boolean> DIGEST = row(ConfigKey.of(
        "decode.digest", onOff(), "off",
        "Compute the keyed packet digest by which two measurement points recognise a packet."));
    /** The digest's key. */
    public static final ConfigKey<Path> DIGEST_KEY_FILE = row(ConfigKey.of(
        "decode.digest-key-file", orWord(NONE, path()), NONE,
        "File with the digest's secret key, 32 hexadecimal digits; without it the key is random. Nobody but the owner may " +
        "write it and only owner and group may read it.")
        .example("/etc/flowlag/digest.key"));

    static {
        section("metering", RestartReason.MEMORY, "The flow cache.");
    }

    /** What the key has beyond the 5-tuple. */
    public static final ConfigKey<List<ExporterConfig.KeyField>> FLOW_KEY = row(ConfigKey.of(
        "metering.flow-key", list(choice(ExporterConfig.KeyField.class)), "[]",
        "What tells flows apart beyond addresses, ports and protocol.")
        .example("[dscp, vlan]").restarts(RestartReason.RECORDS));
    /** Entries of the flow cache. */
    public static final ConfigKey<Long> MAX_FLOWS = row(ConfigKey.of(
        "metering.max-flows", count("16", "8m"), "128k",
        "Flows in the cache at once (128k is 131072); when it is full the oldest records are made early and counted."));
    /** The active timeout. */
    public static final ConfigKey<Long> ACTIVE_TIMEOUT = row(ConfigKey.of(
        "metering.active-timeout", duration("1ms", "1d"), "60s",
        "A record is made of a flow that has gone on for this long.")
        .reloads());
    /** The idle timeout. */
    public static final ConfigKey<Long> IDLE_TIMEOUT = row(ConfigKey.of(
        "metering.idle-timeout", duration("1ms", "1d"), "15s",
        "A flow has ended when it had no packet for this long; not more than active-timeout.")
        .reloads());
    /** How long a flow waits after FIN or RST. */
    public static final ConfigKey<Long> TCP_END_TIMEOUT = row(ConfigKey.of(
        "metering.tcp-end-timeout", duration("0s", "1d"), "1s",
        "How long a flow waits for stragglers after TCP FIN or RST; not more than idle-timeout.")
        .reloads());

    static {
        section("checkpoint", RestartReason.OPENED,
            "Copies of living flows in a file, which the next start of run takes up after a crash.");
    }

    /** The checkpoint's file. */
    public static final ConfigKey<Path> CHECKPOINT_FILE = row(ConfigKey.of(
        "checkpoint.file", orWord(NONE, path()), NONE,
        "File for the copies, on a local disk, in a directory that this process may write; for one process alone. It takes up " +
        "to about 600 octets for each of metering.max-flows.")
        .example("/var/lib/flowlag/flows.checkpoint"));
    /** How often. */
    public static final ConfigKey<Long> CHECKPOINT_INTERVAL = row(ConfigKey.of(
        "checkpoint.interval", duration("100ms", "5m"), "5s",
        "How often flows that have changed are copied: a crash loses what came since."));

    static {
        section("segment", RestartReason.MEASUREMENT,
            "Delay between two measurement points: which packets pass both, and what this process is.");
    }

    /** What this process is for the segment. */
    public static final ConfigKey<ExporterConfig.Role> ROLE = row(ConfigKey.of(
        "segment.role", choice(ExporterConfig.Role.class), "none",
        "What this process is: none measures no delay; sender sends reference packets; receiver estimates delays from them; " +
        "both has the two points on one host."));
    /** The number of the segment. */
    public static final ConfigKey<Long> SEGMENT_ID = row(ConfigKey.of(
        "segment.id", number(0, UNSIGNED_32_MAX), "1",
        "Number of the pair of points, and so of the direction, in records (flowlagSegmentId)."));
    /** The sender point of both. */
    public static final ConfigKey<String> INGRESS = row(ConfigKey.of(
        "segment.ingress", orWord(NONE, text("interface name")), NONE,
        "Interface where packets enter (role both): the sender point.")
        .example("eth0"));
    /** The receiver point of both. */
    public static final ConfigKey<String> EGRESS = row(ConfigKey.of(
        "segment.egress", orWord(NONE, text("interface name")), NONE,
        "Interface where packets leave (role both): the receiver point.")
        .example("eth1"));
    /** Selected sources. */
    public static final ConfigKey<List<Prefix>> SEGMENT_SOURCE = row(ConfigKey.of(
        "segment.source", list(prefix()), "[]",
        "Source addresses of the packets that pass both points; every address if none is listed. The same at both points.")
        .reloads()
        .example("[192.0.2.0/24]"));
    /** Selected destinations. */
    public static final ConfigKey<List<Prefix>> SEGMENT_DESTINATION = row(ConfigKey.of(
        "segment.destination", list(prefix()), "[]",
        "Destination addresses of the packets that pass both points; every address if none is listed.").reloads()
        .example("[198.51.100.0/24]"));
    /** Selected VLAN. */
    public static final ConfigKey<Long> SEGMENT_VLAN = row(ConfigKey.of(
        "segment.vlan", orWord(NONE, number(0, 4094)), NONE,
        "VLAN id of the packets that pass both points; any, and untagged ones, with none.").reloads()
        .example("100"));
    /** The longest delay. */
    public static final ConfigKey<Long> MAXIMUM_DELAY = row(ConfigKey.of(
        "segment.max-delay", duration("1us", "60s"), "200ms",
        "The longest that a packet may be under way: later references are refused, and packets missing for longer are lost."));
    /** The measurement interval. */
    public static final ConfigKey<Long> SEGMENT_INTERVAL = row(ConfigKey.of(
        "segment.interval", duration("10ms", "1h"), "1s",
        "Measurement interval: for how long a summary of each traffic class is gathered.").reloads());
    /** What offloads mean. */
    public static final ConfigKey<ExporterConfig.Offload> OFFLOAD = row(ConfigKey.of(
        "segment.offload", choice(ExporterConfig.Offload.class), "refuse",
        "Whether run refuses interfaces with segmentation or receive offload on, which make the two points see different " +
        "packets, or allows them."));
    /** Whether every packet is matched. */
    public static final ConfigKey<Boolean> EXACT = row(ConfigKey.of(
        "segment.exact", onOff(), "off",
        "Match every packet of both points by its digest: exact delay and loss of each flow. On with role both unless off is " +
        "given."));
    /** Packets under way at once. */
    public static final ConfigKey<Long> EXACT_PACKETS = row(ConfigKey.of(
        "segment.exact-packets", orWord(AUTO, count("1k", "16m")), AUTO,
        "Packets under way at once that exact matching remembers at most, 112 to 128 octets each, taken as they come; with " +
        "more, run matches a part of the flows and says so. auto is what a sixteenth of the memory that the process may use " +
        "holds, and for delay what its captures need."));
    /** Whether a sender makes records. */
    public static final ConfigKey<Boolean> SENDER_RECORDS = row(ConfigKey.of(
        "segment.sender-records", onOff(), "off",
        "Whether a sender makes flow records of its own too."));

    static {
        section("clock", RestartReason.MEASUREMENT,
            "How far the clocks of the two points may differ: said in every record with a delay.");
    }

    /** Where the clock's error is known from. */
    public static final ConfigKey<ExporterConfig.ClockSource> CLOCK_SOURCE = row(ConfigKey.of(
        "clock.source", choice(ExporterConfig.ClockSource.class), "adjtimex",
        "Where the clock's error is known from: adjtimex is the kernel's own bound; file is clock.file; fixed is " +
        "clock.error."));
    /** A fixed error. */
    public static final ConfigKey<Long> CLOCK_ERROR = row(ConfigKey.of(
        "clock.error", duration("0ns", "1h"), "1ms",
        "The clock's error, when its source is fixed."));
    /** A file with the error. */
    public static final ConfigKey<Path> CLOCK_FILE = row(ConfigKey.of(
        "clock.file", orWord(NONE, path()), NONE,
        "File whose first line is the clock's error as a duration, written anew by whoever keeps the clock.")
        .example("/run/flowlag/clock-error"));

    static {
        section("rli", RestartReason.MEASUREMENT,
            "Reference Latency Interpolation: reference packets and what the receiver makes of them.");
    }

    /** When references are sent. */
    public static final ConfigKey<ExporterConfig.Policy> POLICY = row(ConfigKey.of(
        "rli.policy", choice(ExporterConfig.Policy.class), "adaptive",
        "When a reference is sent: adaptive goes by the utilization of rli.capacity; every-n counts packets; every-interval " +
        "goes by time; combined is whichever of the two is first; passive sends none: packets of the traffic " +
        "stand in for them, chosen alike at both points (rli.passive-share). A receiver that gives this, or one of its values, " +
        "hands them out: its senders follow them by exchange.connect, and not their own.")
        .reloads());
    /** Share of packets that stand in for references. */
    public static final ConfigKey<Double> PASSIVE_SHARE = row(ConfigKey.of(
        "rli.passive-share", fraction(), "0.01",
        "Share of packets that stand in for references (passive); there must be more than one in rli.silent-after. Over the " +
        "exchange each costs 8 octets, and unless this is given it is 0.15, of which the sender tells what rli.ceiling allows."));
    /** Packets to a reference. */
    public static final ConfigKey<Long> EVERY_N = row(ConfigKey.of(
        "rli.every-n", number(1, 1_000_000), "100",
        "Packets to each reference (every-n, combined).")
        .reloads());
    /** Time to a reference. */
    public static final ConfigKey<Long> EVERY_INTERVAL = row(ConfigKey.of(
        "rli.every-interval", duration("1us", "10s"), "1ms",
        "Time from one reference to the next (every-interval, combined).")
        .reloads());
    /** Utilization with the most references. */
    public static final ConfigKey<Double> MINIMUM_UTILIZATION = row(ConfigKey.of(
        "rli.min-utilization", fraction(), "0.6",
        "Utilization up to which references are most frequent (adaptive).")
        .reloads());
    /** Utilization with the fewest references. */
    public static final ConfigKey<Double> MAXIMUM_UTILIZATION = row(ConfigKey.of(
        "rli.max-utilization", fraction(), "0.85",
        "Utilization from which on references are rarest (adaptive).")
        .reloads());
    /** How fast the estimate of the utilization follows. */
    public static final ConfigKey<Double> SMOOTHING = row(ConfigKey.of(
        "rli.smoothing", fraction(), "0.02",
        "Smoothing factor of the utilization (adaptive), α of the paper: the weight of the newest value, above 0. Each sender " +
        "has its own.")
        .reloads());
    /** The lowest rate. */
    public static final ConfigKey<Long> MINIMUM_RATE = row(ConfigKey.of(
        "rli.min-rate", number(1, 1_000_000), "300",
        "The lowest rate, as packets to each reference (adaptive).")
        .reloads());
    /** The highest rate. */
    public static final ConfigKey<Long> MAXIMUM_RATE = row(ConfigKey.of(
        "rli.max-rate", number(1, 1_000_000), "10",
        "The highest rate, as packets to each reference (adaptive).")
        .reloads());
    /** The longest gap. */
    public static final ConfigKey<Long> MAXIMUM_GAP = row(ConfigKey.of(
        "rli.max-gap", duration("100us", "10s"), "100ms",
        "The longest time without a reference, whatever the policy. With policy passive, which sends none: the longest time " +
        "between two over which delays are estimated; as rli.silent-after if it is not set.")
        .reloads());
    /** The bandwidth ceiling. */
    public static final ConfigKey<ReferenceCeiling> CEILING = row(ConfigKey.of(
        "rli.ceiling", shareOr(bitRate("1k", "100g")), "1%",
        "What references of all classes may take of the link on average: a share of rli.capacity, or a rate. The default is 1m " +
        "without a capacity. Packets of captures that stand in for references take nothing: there is no ceiling unless this is " +
        "given. With policy passive over the exchange, what their send times may take: 0.3 of exchange.bandwidth, or " +
        "anything if rli.passive-share is given.")
        .reloads());
    /** When references are sent: what a receiver hands out. */
    static final List<ConfigKey<?>> INJECTION = List.of(
        POLICY, EVERY_N, EVERY_INTERVAL, MINIMUM_UTILIZATION, MAXIMUM_UTILIZATION, MINIMUM_RATE, MAXIMUM_RATE, MAXIMUM_GAP,
        CEILING);
    /** The rate of the bottleneck. */
    public static final ConfigKey<Long> CAPACITY = row(ConfigKey.of(
        "rli.capacity", orWord(NONE, bitRate("8k", "1000g")), NONE,
        "Rate of the bottleneck queue in bits a second: the shaper's, not the interface's. The policy adaptive and " +
        "serialisation need it. A sender without it takes the receiver's.")
        .example("50m").reloads());
    /** Where references go. */
    public static final ConfigKey<String> TARGET = row(ConfigKey.of(
        "rli.target", orWord(NONE, text("host")), NONE,
        "Host that references are sent to: the receiver, or any host behind it.")
        .example("198.51.100.1"));
    /** The reference port. */
    public static final ConfigKey<Long> REFERENCE_PORT = row(ConfigKey.of(
        "rli.port", number(1, 65535), "8620",
        "UDP port of references; the same at both points."));
    /** The first session. */
    public static final ConfigKey<Long> SESSION = row(ConfigKey.of(
        "rli.session", number(1, 65535), "1",
        "STAMP session identifier of the first class; each further class has the next one. The same at both points."));
    /** The key of the HMACs. */
    public static final ConfigKey<Path> REFERENCE_KEY_FILE = row(ConfigKey.of(
        "rli.key-file", orWord(NONE, path()), NONE,
        "File with the secret key of authenticated references, 32 or more hexadecimal digits; the same at both points.")
        .example("/etc/flowlag/reference.key"));
    /** The traffic classes. */
    public static final ConfigKey<List<Long>> CLASSES = row(ConfigKey.of(
        "rli.classes", list(number(0, 63)), "[]",
        "DSCP of each traffic class that has a queue, and so references, of its own; packets with another DSCP are of the " +
        "first class. One class if none is listed. A receiver takes over others, as many as before.")
        .reloads()
        .example("[0, 46]"));
    /** How delays are estimated. */
    public static final ConfigKey<ExporterConfig.EstimatorKind> ESTIMATOR = row(ConfigKey.of(
        "rli.estimator", choice(ExporterConfig.EstimatorKind.class), "linear",
        "linear draws a line between two references (RLI); left takes the last one's delay (RLI-L)."));
    /** How a packet's own octets count. */
    public static final ConfigKey<ExporterConfig.SerialisationKind> SERIALISATION = row(ConfigKey.of(
        "rli.serialisation", choice(ExporterConfig.SerialisationKind.class), "auto",
        "What a packet's own size adds to its delay: none, as for points behind the queue; its time at rli.capacity; fitted " +
        "to references of several sizes, within the capacity. Where packets of the traffic stand in for references, auto is " +
        "the time at rli.capacity if that is given, else fitted, and no more than their least delays allow; else none."));
    /** Packets that wait. */
    public static final ConfigKey<Long> REFERENCE_BUFFER = row(ConfigKey.of(
        "rli.buffer", count("16", "16m"), "64k",
        "Packets of each class that may wait for their next reference; more are counted and have no estimate. With policy " +
        "passive over the exchange, a second of the packets that rli.ceiling is for."));
    /** When estimates stop. */
    public static final ConfigKey<Long> SILENT_AFTER = row(ConfigKey.of(
        "rli.silent-after", duration("1ms", "10m"), "1s",
        "Estimates stop when no reference came for this long; more than rli.max-gap."));
    /** What the drift of the clocks is for. */
    public static final ConfigKey<ExporterConfig.Drift> DRIFT = row(ConfigKey.of(
        "rli.drift", choice(ExporterConfig.Drift.class), "report",
        "Whether the estimated drift of the clocks is only reported, or taken out of the delays too (apply)."));

    /** Senders told apart. */
    public static final ConfigKey<List<ExporterConfig.Sender>> SENDERS = row(ConfigKey.of(
        "rli.senders", list(sender()), "[]",
        "Senders that a receiver tells apart, each as SESSION@ADDRESS with its first session and the address of its " +
        "references; ?key-file=PATH is its own key, ?source=PREFIX,PREFIX the packets that pass it, which several senders " +
        "need. The first has the receiver's segment.id, the next one more, and so on. With none, rli.session and any address.")
        .example("[\"1@192.0.2.1?source=192.0.2.0/25\", \"11@192.0.2.2?source=192.0.2.128/25\"]"));

    static {
        section("lds", RestartReason.MEMORY,
            "Sketches of the packets at both points, compared at the end of each measurement interval.");
    }

    /** Whether there are sketches. */
    public static final ConfigKey<Boolean> LDS_ENABLED = row(ConfigKey.of(
        "lds.enabled", onOff(), "off",
        "Estimate delay and loss of each flow from sketches of both points (role both); on by itself with exchange.listen."));
    /** Rows of the sketch. */
    public static final ConfigKey<Long> LDS_ROWS = row(ConfigKey.of(
        "lds.rows", number(1, 16), "4",
        "Rows of the sketch; each packet is in one cell of each row that samples it.").reloads());
    /** Columns of the sketch. */
    public static final ConfigKey<Long> LDS_COLUMNS = row(ConfigKey.of(
        "lds.columns", count("16", "4m"), "16k",
        "Cells of a row, of 32 octets each; flows that share their cells disturb one another.").reloads());
    /** Cells of a flow in a row. */
    public static final ConfigKey<Long> LDS_VLDA = row(ConfigKey.of(
        "lds.vlda", number(1, 64), "4",
        "Cells of a row over which the packets of one flow spread; more of them stand more loss and need more columns.")
        .reloads());
    /** Sampling rates of the rows. */
    public static final ConfigKey<List<Double>> LDS_RATES = row(ConfigKey.of(
        "lds.rates", fractions(), "[]",
        "Share of packets that each row samples, one for each row; all packets if none is listed.").reloads()
        .example("[1, 0.5, 0.1, 0.01]"));
    /** Weights of flows. */
    public static final ConfigKey<List<WeightRule>> LDS_WEIGHTS = row(ConfigKey.of(
        "lds.weights", list(weightRule()), "[]",
        "Which flows weigh more in the sketch, and so are estimated better at the cost of others: the first rule that " +
        "matches a packet gives its weight, 1 to 10000; 1 without one.").reloads()
        .example("[\"proto=udp dport=5004-5005 weight=25\", \"dst=10.9.0.0/16 weight=5\"]"));
    /** How much fuller a cell may be. */
    public static final ConfigKey<Double> LDS_ALPHA = row(ConfigKey.of(
        "lds.alpha", fraction(), "0.1",
        "How much fuller than its emptiest a cell of a flow may be and still count for the mean.").reloads());
    /** Cells of an aggregator's bank. */
    public static final ConfigKey<Long> LDS_AGGREGATOR = row(ConfigKey.of(
        "lds.lda-cells", count("16", "1m"), "1k",
        "Cells in each of the four banks of a traffic class's aggregator (LDA); an even number.").reloads());
    /** Packets under way. */
    public static final ConfigKey<Long> LDS_IN_FLIGHT = row(ConfigKey.of(
        "lds.in-flight", count("16", "16m"), "64k",
        "Packets of the last segment.max-delay and 24 ms of an interval that are remembered, so that those under way at its " +
        "end are booked where they were sent; with more of them the loss of the interval is not known."));
    /** Records that may wait. */
    public static final ConfigKey<Long> LDS_WAITING = row(ConfigKey.of(
        "lds.waiting-records", count("16", "8m"), "32k",
        "Records of ended flows that may wait for the end of their interval; more are made without it and counted."));

    /** Share of witness flows. */
    public static final ConfigKey<Double> LDS_WITNESSES = row(ConfigKey.of(
        "lds.witnesses", fraction(), "0.01",
        "Share of flows of which the sender ships exact sums beside the sketches, 72 octets each: what estimates are checked " +
        "against. Larger flows are chosen more often, and so are all where there are few."));

    static {
        section("joint", RestartReason.MEMORY,
            "References and sketches solved together, interval by interval: the mean delay of each flow, with its " +
            "error bound. Where there are sketches.");
    }

    /** Whether references and sketches are solved together. */
    public static final ConfigKey<Boolean> JOINT_ENABLED = row(ConfigKey.of(
        "joint.enabled", onOff(), "on",
        "Solve references and sketches together where there are sketches; without, the records have both side by side."));
    /** Time that a solution may take. */
    public static final ConfigKey<Long> JOINT_BUDGET = row(ConfigKey.of(
        "joint.budget", duration("1ms", "60s"), "500ms",
        "Time that the solution of an interval may take on its thread; if it should take longer, a simpler one is made."));
    /** How long estimates are waited for. */
    public static final ConfigKey<Long> JOINT_WAIT = row(ConfigKey.of(
        "joint.wait", duration("0s", "10s"), "300ms",
        "How much longer than segment.max-delay after an interval its last packets may wait for their next reference; at most " +
        "what fits in six intervals."));
    /** Flows of an interval. */
    public static final ConfigKey<Long> JOINT_FLOWS = row(ConfigKey.of(
        "joint.max-flows", count("16", "2m"), "64k",
        "Flows with packets in an interval that are solved together; an interval with more is not, and counted. By itself a " +
        "quarter of metering.max-flows where that is more."));
    /** Packets that wait for an estimate. */
    public static final ConfigKey<Long> JOINT_PENDING = row(ConfigKey.of(
        "joint.pending", count("16", "16m"), "128k",
        "Packets whose place in the sketches is remembered until their estimate comes, of 48 octets each; not below what comes " +
        "between two references."));

    /** Whether bounds are checked. */
    public static final ConfigKey<Boolean> JOINT_CHECK = row(ConfigKey.of(
        "joint.check", onOff(), "off",
        "Count how many error bounds hold, by the exact sums of all flows: 80 octets more a flow, interval and point; only " +
        "where both points are in this process."));

    static {
        section("reconcile", RestartReason.MEMORY, "Packets that only one point has, listed one by one: loss by flow is " +
            "exact then, and costs no accuracy. Where there are sketches, or sums of flows.");
    }

    /** Whether points reconcile their packets. */
    public static final ConfigKey<Boolean> RECONCILE_ENABLED = row(ConfigKey.of(
        "reconcile.enabled", onOff(), "off",
        "Remember the packets of each interval, find those that were lost or came unexpectedly, and take them out of sketches " +
        "and sums of flows before anything is estimated. On by itself with an exchange; it needs both ends."));
    /** Packets that are remembered. */
    public static final ConfigKey<Long> RECONCILE_PACKETS = row(ConfigKey.of(
        "reconcile.packets", count("1k", "24m"), "384k",
        "Packets of an interval that each point remembers, 32 octets each and a third more, rounded up to a power of two, " +
        "for each interval that may be open; of more, those of a part of the flows."));
    /** Cells of an aggregator. */
    public static final ConfigKey<Long> RECONCILE_CELLS = row(ConfigKey.of(
        "reconcile.cells", count("1k", "2m"), "64k",
        "Largest aggregator of a traffic class, 24 octets a cell; 1.7 cells tell of one packet that only one point has."));
    /** How long answers are waited for. */
    public static final ConfigKey<Long> RECONCILE_WAIT = row(ConfigKey.of(
        "reconcile.wait", duration("1ms", "10s"), "2500ms",
        "How long the sender's answers about an interval are waited for."));

    static {
        section("quantiles", RestartReason.MEMORY, "The distribution of each flow's delays: its quantiles in the records.");
    }

    /** Memory of all distributions. */
    public static final ConfigKey<Long> QUANTILES_MEMORY = row(ConfigKey.of(
        "quantiles.memory", octets("0", "4g"), "16m",
        "Memory of the distributions of flows, first come, first served; 0 for none."));
    /** Delays that earn a distribution. */
    public static final ConfigKey<Long> QUANTILES_FROM = row(ConfigKey.of(
        "quantiles.from-packets", number(1, 1_000_000), "8",
        "A flow gets a distribution with this delay, if there is room; its quantiles know nothing of those before."));

    static {
        section("exchange", RestartReason.OPENED,
            "The connection between the two points where they are two processes: lds needs it then. The " +
            "receiver listens, and tells the sender what to do; see the page on the exchange.");
    }

    /** Where the receiver listens. */
    public static final ConfigKey<HostPort> EXCHANGE_LISTEN = row(ConfigKey.of(
        "exchange.listen", orWord(NONE, hostPort(false)), NONE,
        "Where role receiver waits for the sender; a port alone is on loopback. Other addresses need exchange.key-file or TLS, " +
        "and with one of them it is port 8621 of all addresses by itself.")
        .example("192.0.2.2:8621"));
    /** Where the sender connects to. */
    public static final ConfigKey<HostPort> EXCHANGE_CONNECT = row(ConfigKey.of(
        "exchange.connect", orWord(NONE, hostPort(true)), NONE,
        "Where role sender finds its receiver; from it come the key of digests, the packets of the segment, and the sketches' " +
        "sizes.")
        .example("192.0.2.2:8621"));
    /** A key that both ends have. */
    public static final ConfigKey<Path> EXCHANGE_KEY_FILE = row(ConfigKey.of(
        "exchange.key-file", orWord(NONE, path()), NONE,
        "File with the key that both ends share, 32 to 128 hexadecimal digits, as flowlag key writes it.")
        .example("/etc/flowlag/exchange.key"));
    /** What is exchanged. */
    public static final ConfigKey<ExporterConfig.ExchangeMode> EXCHANGE_MODE = row(ConfigKey.of(
        "exchange.mode", choice(ExporterConfig.ExchangeMode.class), "auto",
        "What the sender ships of an interval: flows is exact sums of every flow, 72 octets each; sketch; auto is flows while " +
        "they fit exchange.bandwidth, else the sketch. The receiver's."));
    /** What auto may take of the network. */
    public static final ConfigKey<Long> EXCHANGE_BANDWIDTH = row(ConfigKey.of(
        "exchange.bandwidth", bitRate("8k", "100g"), "10m",
        "Bits per second that mode auto may take for flows. If given, lds.columns has no more by itself than fits too. The " +
        "receiver's."));
    /** How long the receiver waits. */
    public static final ConfigKey<Long> EXCHANGE_DEADLINE = row(ConfigKey.of(
        "exchange.deadline", duration("100ms", "1m"), "3s",
        "How much longer than segment.max-delay after the end of an interval the receiver waits for the sender's sketches, at " +
        "most; records of its flows wait as long. The sender ships an interval 1 s after its end, or as long as it lasts if " +
        "that is less."));
    /** Memory for sketches that a receiver asks for. */
    public static final ConfigKey<Long> EXCHANGE_MEMORY = row(ConfigKey.of(
        "exchange.memory", octets("64k", "16g"), "384m",
        "Octets of sketches, of packets that are remembered for reconciliation, and of intervals that wait to be shipped, that " +
        "a receiver may ask of a sender; at the receiver, octets of digests in an interval."));

    /** Connections without a session. */
    public static final ConfigKey<Long> EXCHANGE_MAX_CONNECTIONS = row(ConfigKey.of(
        "exchange.max-connections", number(1, 10_000), "64",
        "Connections that may be open at the receiver before they have shown who they are; when there is one more, the oldest " +
        "goes, if it had a tenth of exchange.handshake-timeout, else new ones wait."));
    /** How long a stranger may take. */
    public static final ConfigKey<Long> EXCHANGE_HANDSHAKE = row(ConfigKey.of(
        "exchange.handshake-timeout", duration("100ms", "5m"), "10s",
        "How long a connection may take until both ends have agreed to talk, TLS included; it ends then."));
    /** How long a message may take. */
    public static final ConfigKey<Long> EXCHANGE_MESSAGE_TIMEOUT = row(ConfigKey.of(
        "exchange.message-timeout", duration("100ms", "5m"), "10s",
        "How long a message may take to come once it has begun, and the other end to take anything of what waits for it."));
    /** How long the other end may be silent. */
    public static final ConfigKey<Long> EXCHANGE_IDLE = row(ConfigKey.of(
        "exchange.idle-timeout", duration("300ms", "1h"), "30s",
        "How long the other end may be silent; after a third of it it is asked whether it is there."));
    /** The longest message. */
    public static final ConfigKey<Long> EXCHANGE_MAX_MESSAGE = row(ConfigKey.of(
        "exchange.max-message-size", octets("36k", "64k"), "64k",
        "Octets of the longest message that is taken from the other end; a longer one ends the connection when its header says " +
        "so. No message of this version is longer than 36k."));
    /** What waits for the other end. */
    public static final ConfigKey<Long> EXCHANGE_BUFFER = row(ConfigKey.of(
        "exchange.send-buffer", octets("64k", "64m"), "256k",
        "Octets of messages that may wait in this process for the other end of a connection to take them."));

    static {
        section("exchange.tls", RestartReason.OPENED, "Credentials of the exchange. Both ends show a certificate.");
    }

    /** Whether the exchange has TLS. */
    public static final ConfigKey<Boolean> EXCHANGE_TLS = row(ConfigKey.of(
        "exchange.tls.enabled", onOff(), "off",
        "Whether the exchange has TLS (1.2 or later); both ends alike."));
    /** Our certificate. */
    public static final ConfigKey<Path> EXCHANGE_TLS_CERTIFICATE = row(ConfigKey.of(
        "exchange.tls.certificate", orWord(NONE, path()), NONE,
        "PEM file of our certificate, with the chain up to its authority.")
        .example("/etc/flowlag/point.crt"));
    /** Our key. */
    public static final ConfigKey<Path> EXCHANGE_TLS_KEY = row(ConfigKey.of(
        "exchange.tls.key", orWord(NONE, path()), NONE,
        "PEM file of our private key (PKCS #8); nobody but the owner may write it and only owner and group may read it.")
        .example("/etc/flowlag/point.key"));
    /** Whom we trust. */
    public static final ConfigKey<Path> EXCHANGE_TLS_TRUST = row(ConfigKey.of(
        "exchange.tls.trust", orWord(NONE, path()), NONE,
        "PEM file of the authorities that may have signed the other end's certificate.")
        .example("/etc/flowlag/authorities.pem"));
    /** Which names the other end may have. */
    public static final ConfigKey<List<String>> EXCHANGE_TLS_PEERS = row(ConfigKey.of(
        "exchange.tls.peers", list(text("DNS name")), "[]",
        "Names of which the other end's certificate must have one; the receiver's must carry the host of exchange.connect " +
        "in any case.")
        .example("[sender.example.net]"));

    static {
        section("pipeline", RestartReason.MEMORY, "The rings between the threads.");
    }

    /** The ring between capture and metering. */
    public static final ConfigKey<Long> PACKET_RING = row(ConfigKey.of(
        "pipeline.packet-ring", ringOctets("64k", "1g"), "8m",
        "Ring between capture and metering, of each metering thread; when it is full, packets are dropped and counted."));
    /** The ring between metering and export. */
    public static final ConfigKey<Long> RECORD_RING = row(ConfigKey.of(
        "pipeline.record-ring", ringOctets("64k", "1g"), "8m",
        "Ring between metering and export, of each metering thread; when it is full, records are dropped and counted."));
    /** How many metering threads. */
    public static final ConfigKey<Long> SHARDS = row(ConfigKey.of(
        "pipeline.shards", orWord(AUTO, number(1, 64)), AUTO,
        "Metering threads of threading sharded, each with its rings and its part of metering.max-flows; auto is one less than " +
        "there are processors, at least 2."));
    /** What a thread does when it has nothing to do. */
    public static final ConfigKey<ExporterConfig.Idle> IDLE = row(ConfigKey.of(
        "pipeline.idle", choice(ExporterConfig.Idle.class), "backoff",
        "What a thread without work does: backoff sleeps ever longer, up to 1 ms; yield gives its turn away; spin keeps " +
        "its core."));

    static {
        section("exporting", RestartReason.RECORDS,
            "Where the records go, and how. Keys marked with transports may also be set for one destination.");
    }

    /** The destinations. */
    public static final ConfigKey<List<String>> DESTINATIONS = row(ConfigKey.of(
        "exporting.destinations", list(text("destination")), "[]",
        "Collectors and files, such as udp://HOST:4739 or file:PATH: each is a URI (udp://host:port, tcp://host:port, " +
        "tls://host:port, file:PATH) or a map of uri and keys of this section. The port is 4739 if none is given, 4740 for " +
        "tls. The keys may also follow the URI: udp://host?options=on&rate-limit=20m.")
        .example("[\"udp://192.0.2.1:4739\"]").reloads());
    /** The profile. */
    public static final ConfigKey<ExporterConfig.Profile> PROFILE = row(ConfigKey.of(
        "exporting.profile", choice(ExporterConfig.Profile.class), "full",
        "Elements in a record: classic has what every collector has known for ten years; standard adds path delay (RFC " +
        "9951); full adds the enterprise elements.")
        .reloads().perDestination(UDP, TCP, TLS, FILE));
    /** The enterprise number. */
    public static final ConfigKey<Long> ENTERPRISE_NUMBER = row(ConfigKey.of(
        "exporting.enterprise-number", number(0, UNSIGNED_32_MAX), "32473",
        "Private Enterprise Number of the enterprise elements; 32473 is for documentation (RFC 5612), so register your " +
        "own. 0 and 29305 are refused."));
    /** Octets of a message at most. */
    public static final ConfigKey<Long> MAX_MESSAGE_SIZE = row(ConfigKey.of(
        "exporting.max-message-size", orWord(AUTO, octets("512", "65535")), AUTO,
        "Octets of an IPFIX message at most; auto is 1400 on udp, so that it fits the path, and 16k elsewhere.")
        .reloads().perDestination(UDP, TCP, TLS, FILE));
    /** How often templates are resent. */
    public static final ConfigKey<Long> TEMPLATE_REFRESH = row(ConfigKey.of(
        "exporting.template-refresh", duration("1s", "1d"), "60s",
        "How often templates are sent again on udp.")
        .reloads().perDestination(UDP));
    /** After how many messages templates are resent. */
    public static final ConfigKey<Long> TEMPLATE_REFRESH_MESSAGES = row(ConfigKey.of(
        "exporting.template-refresh-messages", number(0, 1_000_000), "0",
        "After how many messages templates are sent again on udp, besides template-refresh; 0 is never.")
        .reloads().perDestination(UDP));
    /** Whether options records are sent. */
    public static final ConfigKey<ExporterConfig.OptionsMode> OPTIONS = row(ConfigKey.of(
        "exporting.options", choice(ExporterConfig.OptionsMode.class), "auto",
        "Send options records (statistics, types of elements); auto is on for tcp, tls and file, off for udp, " +
        "where nfdump takes each for a sequence error.")
        .reloads().perDestination(UDP, TCP, TLS, FILE));
    /** How often statistics records are sent. */
    public static final ConfigKey<Long> OPTIONS_INTERVAL = row(ConfigKey.of(
        "exporting.options-interval", duration("1s", "1d"), "60s",
        "How often options records are sent.")
        .reloads().perDestination(UDP, TCP, TLS, FILE));
    /** How long a record waits for its message to fill. */
    public static final ConfigKey<Long> FLUSH_INTERVAL = row(ConfigKey.of(
        "exporting.flush-interval", duration("1ms", "1m"), "1s",
        "How long a record waits at most for its message to fill.")
        .reloads().perDestination(UDP, TCP, TLS, FILE));
    /** How fast records are sent. */
    public static final ConfigKey<Long> RATE_LIMIT = row(ConfigKey.of(
        "exporting.rate-limit", orWord(NONE, bitRate("8k", "100g")), NONE,
        "Bits a second of IPFIX messages at most, so that a burst does not overrun the collector.")
        .reloads().example("20m").perDestination(UDP, TCP, TLS));
    /** How long to wait before connecting again. */
    public static final ConfigKey<Long> RECONNECT_INTERVAL = row(ConfigKey.of(
        "exporting.reconnect-interval", duration("10ms", "1d"), "60s",
        "How long to wait before connecting to a collector again; RFC 7011 section 10.4.4 asks for a minute or more. With a " +
        "spool also how long before a file is tried again that could not be written.")
        .reloads().perDestination(TCP, TLS, FILE));
    /** How long a connection may take to come about. */
    public static final ConfigKey<Long> CONNECT_TIMEOUT = row(ConfigKey.of(
        "exporting.connect-timeout", duration("10ms", "5m"), "5s",
        "How long a collector may take to answer a connection attempt, the TLS handshake included.")
        .reloads().perDestination(TCP, TLS));
    /** Octets of the socket's buffer. */
    public static final ConfigKey<Long> SEND_BUFFER = row(ConfigKey.of(
        "exporting.send-buffer", octets("4k", "1g"), "4m",
        "Send buffer asked of the kernel for the socket.")
        .reloads().perDestination(UDP, TCP, TLS));
    /** Where records wait. */
    public static final ConfigKey<Path> SPOOL = row(ConfigKey.of(
        "exporting.spool", orWord(NONE, path()), NONE,
        "Directory for records that wait while a collector is away or a file cannot be written (run); each destination has a " +
        "directory of its own in it, for one process alone. None: such records are lost, and counted.")
        .example("/var/lib/flowlag/spool").reloads().perDestination(TCP, TLS, FILE));
    /** How much of the disk. */
    public static final ConfigKey<Long> SPOOL_SIZE = row(ConfigKey.of(
        "exporting.spool-size", octets("1m", "1024g"), "256m",
        "Octets of disk that a destination's spool takes at most; when it is full the oldest records give way, counted.")
        .reloads().perDestination(TCP, TLS, FILE));
    /** How fast they leave. */
    public static final ConfigKey<Long> SPOOL_RATE = row(ConfigKey.of(
        "exporting.spool-rate", number(1, 10_000_000), "10000",
        "Records a second that leave a spool at most, beside the live ones, once the destination is back.")
        .reloads().perDestination(TCP, TLS, FILE));

    static {
        section("exporting.tls", null, "Credentials of tls destinations. Both ends show a certificate (RFC 7011 section 11.3). " +
            "A reload reads the files again: what was renewed is shown from the next connection on.");
    }

    /** Our certificate. */
    public static final ConfigKey<Path> TLS_CERTIFICATE = row(ConfigKey.of(
        "exporting.tls.certificate", orWord(NONE, path()), NONE,
        "PEM file of our certificate, with the chain up to its authority.")
        .example("/etc/flowlag/exporter.crt").reloads());
    /** Our key. */
    public static final ConfigKey<Path> TLS_KEY = row(ConfigKey.of(
        "exporting.tls.key", orWord(NONE, path()), NONE,
        "PEM file of our private key (PKCS #8); nobody but the owner may write it and only owner and group may read it.")
        .example("/etc/flowlag/exporter.key").reloads());
    /** Whom we trust. */
    public static final ConfigKey<Path> TLS_TRUST = row(ConfigKey.of(
        "exporting.tls.trust", orWord(NONE, path()), NONE,
        "PEM file of the authorities that may have signed the collector's certificate.")
        .example("/etc/flowlag/authorities.pem").reloads());
    /** Which names the collector may have. */
    public static final ConfigKey<List<String>> TLS_PEERS = row(ConfigKey.of(
        "exporting.tls.peers", list(text("DNS name")), "[]",
        "Names of which the collector's certificate must have one; it must carry the host of the URI in any case.")
        .example("[collector.example.net]").reloads());

    static {
        section("log", RestartReason.OPENED, "What the process says of itself.");
    }

    /** The log's level. */
    public static final ConfigKey<ExporterConfig.LogLevel> LOG_LEVEL = row(ConfigKey.of(
        "log.level", choice(ExporterConfig.LogLevel.class), "info",
        "The least grave messages that are logged.")
        .reloads());
    /** The log's file. */
    public static final ConfigKey<Path> LOG_FILE = row(ConfigKey.of(
        "log.file", orWord(NONE, path()), NONE,
        "File to log to, instead of standard error.")
        .example("/var/log/flowlag.log"));

    static {
        section("stats", RestartReason.OPENED, "Counters for other programs, as JSON.");
    }

    /** Where the statistics go. */
    public static final ConfigKey<Path> STATS_FILE = row(ConfigKey.of(
        "stats.file", orWord(NONE, path()), NONE,
        "File for the counters at the end, - for standard output.")
        .example("/run/flowlag/stats.json"));
    /** How often the statistics are written. */
    public static final ConfigKey<Long> STATS_INTERVAL = row(ConfigKey.of(
        "stats.interval", orWord(NONE, duration("100ms", "1d")), NONE,
        "How often the file is written anew while the process runs.")
        .example("10s").reloads());

    static {
        section("status", RestartReason.OPENED, "What flowlag top, flowlag flows and the status page show of a running process.");
    }

    /** Whether there is a status file. */
    public static final ConfigKey<Boolean> STATUS_ENABLED = row(ConfigKey.of(
        "status.enabled", onOff(), "on",
        "Keep a status file while run works, for top and flows on the same machine."));
    /** Where the status file is. */
    public static final ConfigKey<Path> STATUS_FILE = row(ConfigKey.of(
        "status.file", orWord(AUTO, path()), AUTO,
        "The status file; auto is flowlag-PID.status in $RUNTIME_DIRECTORY, else /run/flowlag, else $XDG_RUNTIME_DIR/flowlag, " +
        "else a directory of the user in /tmp: the first that can be written.")
        .example("/run/flowlag/exporter.status"));
    /** How often the status is written. */
    public static final ConfigKey<Long> STATUS_INTERVAL = row(ConfigKey.of(
        "status.interval", duration("100ms", "1m"), "1s",
        "How often the status is taken: the age of what top, flows, the metrics and the status page show."));
    /** Flows of the status. */
    public static final ConfigKey<Long> STATUS_FLOWS = row(ConfigKey.of(
        "status.flows", count("16", "16k"), "1k",
        "Flows that the status holds at most: the slowest of those that live or ended in the last minute; where no delay is " +
        "measured, the largest."));

    static {
        section("metrics", RestartReason.OPENED,
            "HTTP for monitoring: /metrics (Prometheus), /healthz, and a status page at /. It only reads.");
    }

    /** Where the metrics are served. */
    public static final ConfigKey<HostPort> METRICS_LISTEN = row(ConfigKey.of(
        "metrics.listen", orWord(NONE, hostPort(false)), NONE,
        "Where to serve metrics and the status page; a port alone is on loopback. There is no password: whoever reaches " +
        "another address may read.")
        .example("127.0.0.1:9471"));
    /** How many connections. */
    public static final ConfigKey<Long> METRICS_CONNECTIONS = row(ConfigKey.of(
        "metrics.connections", number(1, 1024), "32",
        "Connections at the same time; one more ends the one that has waited longest."));

    private ConfigTable() {
    }

    /** {@return every key, in the order of the reference} */
    public static List<ConfigKey<?>> keys() {
        return List.copyOf(KEYS.values());
    }

    /**
     * The key with a path.
     *
     * @param path its parts joined by dots.
     * @return the key, or null.
     */
    public static ConfigKey<?> key(final String path) {
        return KEYS.get(path);
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

    /** A section; the reason is for those of its keys that say none and are not taken over on reload. */
    private static void section(final String path, final RestartReason reason, final String description) {
        SECTIONS.put(path, description);
        REASONS.put(path, reason);
    }

    private static <T> ConfigKey<T> row(final ConfigKey<T> written) {
        final ConfigKey<T> key = written.isReloadable() || written.restartReason() != null ? written :
            written.restarts(REASONS.get(written.section()));
        if (!key.isReloadable() && key.restartReason() == null) {
            throw new IllegalStateException(key + " is not taken over on reload and does not say why");
        }
        if (KEYS.put(key.path(), key) != null || !SECTIONS.containsKey(key.section())) {
            throw new IllegalStateException("row " + key);
        }
        return key;
    }
}

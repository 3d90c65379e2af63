package io.flowlag.tests.lab.heldout;

import io.flowlag.exporter.runtime.ReplayedPoint;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * Evaluates two processes, a sender and a receiver, that replay the captures of a {@link HeldOutTrace} and compare them over the
 * exchange: accuracy of means, coverage of bounds, exactness of losses, and octets. Most flows have one packet; a quarter of the
 * flows is in each second.
 */
public final class HeldOutHosts implements Experiment {
    /** System property: factor by which the replay is slower than the trace; 1 by default. */
    static final String SLOWER_PROPERTY = "flowlag.held-out.slower";
    /** System property: offset of the receiver's clock, ns; 0 by default. */
    static final String AHEAD_PROPERTY = "flowlag.held-out.ahead";
    /** System property: drift of the receiver's clock, ns a second; 0 by default. */
    static final String DRIFT_PROPERTY = "flowlag.held-out.drift";
    /** System property: largest jitter of the receiver's timestamps, ns; 0 by default. */
    static final String JITTER_PROPERTY = "flowlag.held-out.jitter";
    /** System property: the share of the packets that are lost by chance; 0 by default. */
    static final String LOSS_PROPERTY = "flowlag.held-out.loss";
    /** System property: lines of configuration for the receiver besides, separated by |. */
    static final String MORE_PROPERTY = "flowlag.held-out.receiver";

    /** Flows of 1.5 packets in the mean, the large ones with half of the packets. */
    private static final double SINGLE_SHARE = 0.93;
    /** A second of so many flows. */
    private static final long BITS_PER_FLOW = 40;
    private static final long START_MS = 6_000;
    /** Before and after the trace, for agreement and the last comparisons; shorter for a few flows. */
    private static final int LEAD_S = 10;
    private static final int TAIL_S = 14;
    private static final int SHORTER_S = 4;
    private static final long TIMEOUT_MS = 600_000;

    private final HeldOutPath path;
    private final Clock clock;
    private final double lostShare;

    /**
     * The receiver's clock against the sender's, by which all means are off.
     *
     * @param aheadNs  at the begin.
     * @param driftPpb by how much it is faster, ns a second.
     * @param jitterNs a timestamp is off by at most.
     */
    public record Clock(long aheadNs, long driftPpb, long jitterNs) {
    }

    /** The experiment. */
    public HeldOutHosts() {
        this(HeldOutPath.named(System.getProperty(HeldOutExperiment.PATHS_PROPERTY, HeldOutPath.FIFO_88.label())).get(0),
            new Clock(Long.getLong(AHEAD_PROPERTY, 0), Long.getLong(DRIFT_PROPERTY, 0), Long.getLong(JITTER_PROPERTY, 0)),
            Double.parseDouble(System.getProperty(LOSS_PROPERTY, "0")));
    }

    /**
     * One path.
     *
     * @param clock     of the receiver.
     * @param lostShare of the packets, 0 to 1.
     */
    public HeldOutHosts(final HeldOutPath path, final Clock clock, final double lostShare) {
        this.path = path;
        this.clock = clock;
        this.lostShare = lostShare;
    }

    @Override
    public void run(final Setup setup, final Results results) {
        final long firstSeed = HeldOutExperiment.firstSeed(setup);
        final Table flows = results.table("flows", "All flows that arrived, over " + setup.seeds() + " seeds from " + firstSeed,
            "flows a second", "packets a second", "bandwidth bit/s", "most bit/s", "lost", "flows", "with mean %", "exact %",
            "joint %", "loss known %", "loss right %", "loss false", "bounded %", "bound holds %", "half width / error",
            "100 and more: error %");
        final Table sizes = results.table("sizes", "By packets of the flow; median relative errors", "packets", "flows",
            "with mean %", "error %", "bounded %", "bound holds %", "half width / error");
        final HeldOutScore score = new HeldOutScore();
        long packets = 0;
        long lost = 0;
        double mostBps = 0;
        final int flowCount = setup.size(8_000, 80_000, 800_000);
        final long bandwidthBps = BITS_PER_FLOW * flowCount / 4;
        for (int i = 0; i < setup.seeds(); i++) {
            final HeldOutTrace trace = new HeldOutTrace(
                path, flowCount, firstSeed + i, SINGLE_SHARE, Impairment.NONE.withLoss(lostShare));
            packets += trace.packets();
            lost += trace.lostPackets();
            try {
                final TwoProcesses hosts = new TwoProcesses(
                    trace, bandwidthBps, clock, firstSeed + i, setup.size(SHORTER_S, 0, 0), results);
                mostBps = Math.max(mostBps, hosts.run());
                score.add(trace, hosts.records());
                hosts.close();
            } catch (final IOException ex) {
                throw new UncheckedIOException(ex);
            } catch (final InterruptedException ex) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(ex);
            }
        }
        final HeldOutScore.Size all = score.all;
        flows.row(flowCount / 4, packets / setup.seeds() / 4, bandwidthBps, mostBps, lost / setup.seeds(), all.flows,
            percent(all.withMean, all.flows), percent(all.exact, all.flows), percent(all.joint, all.flows),
            percent(all.lossKnown, all.flows), percent(all.lossRight, all.flows), all.lossKnown - all.lossRight,
            percent(all.bounded, all.flows), percent(all.held, all.bounded), all.medians().width(),
            score.large.medians().error());
        for (final HeldOutScore.Size size : score.sizes) {
            final HeldOutScore.Medians each = size.medians();
            sizes.row(size.label, size.flows, percent(size.withMean, size.flows), each.error(),
                percent(size.bounded, size.flows), percent(size.held, size.bounded), each.width());
        }
        results.note("seeds " + firstSeed + " to " + (firstSeed + setup.seeds() - 1));
    }

    private static double percent(final int part, final int whole) {
        return whole == 0 ? Double.NaN : 100.0 * part / whole;
    }

    /** A sender and a receiver. */
    private static final class TwoProcesses {
        private final HeldOutTrace trace;
        private final Clock clock;
        private final long seed;
        private final int shorterSeconds;
        private final Results results;
        private final Path directory = Files.createTempDirectory("flowlag-held-out");
        private final List<Process> processes = new ArrayList<>();

        private TwoProcesses(
            final HeldOutTrace trace, final long bandwidthBps, final Clock clock, final long seed, final int shorterSeconds,
            final Results results) throws IOException {
            this.trace = trace;
            this.clock = clock;
            this.seed = seed;
            this.shorterSeconds = shorterSeconds;
            this.results = results;
            trace.writeCaptures(file("sender.pcapng"), file("receiver.pcapng"));
            final byte[] key = new byte[32];
            new SplittableRandom(seed).nextBytes(key);
            Files.writeString(Files.createFile(file("key"), PosixFilePermissions.asFileAttribute(
                PosixFilePermissions.fromString("rw-------"))), HexFormat.of().formatHex(key));
            final int port = freePort();
            final String flows = "metering: {max-flows: " + Math.max(1 << 17, Integer.highestOneBit(2 * trace.flows())) +
                ", idle-timeout: 6s}";
            final String more = System.getProperty(MORE_PROPERTY, "").replace('|', '\n').replace('_', ' ');
            Files.writeString(file("receiver.yaml"), String.join("\n", flows, "segment: {role: receiver, max-delay: 20ms}",
                "exchange: {listen: 127.0.0.1:" + port + ", key-file: " + file("key") + ", bandwidth: " + bandwidthBps + "}",
                "rli: {policy: passive}", "exporting: {destinations: ['file:" + file("records") + "']}",
                "stats: {file: " + file("receiver.json") + "}", more, ""));
            Files.writeString(file("sender.yaml"), String.join("\n", flows, "segment: {role: sender}",
                "exchange: {connect: 127.0.0.1:" + port + ", key-file: " + file("key") + "}",
                "stats: {file: " + file("sender.json") + "}", ""));
        }

        private Path file(final String name) {
            return directory.resolve(name);
        }

        private static int freePort() throws IOException {
            try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                return socket.getLocalPort();
            }
        }

        /** The most octets of the exchange in a second, as bits. */
        private double run() throws IOException, InterruptedException {
            final long beginNs = (System.currentTimeMillis() + START_MS) * 1_000_000;
            try {
                start("receiver", beginNs, clock);
                start("sender", beginNs, new Clock(0, 0, 0));
                for (final Process each : processes) {
                    if (!each.waitFor(TIMEOUT_MS, TimeUnit.MILLISECONDS) || each.exitValue() != 0) {
                        throw new IllegalStateException(Files.readString(file("receiver.err")) +
                            Files.readString(file("sender.err")));
                    }
                }
            } finally {
                processes.forEach(Process::destroyForcibly);
            }
            return mostBps();
        }

        private void start(final String name, final long beginNs, final Clock ofPoint) throws IOException {
            final List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin/java").toString(), "-Xms48m", "-Xmx512m",
                "-XX:MaxDirectMemorySize=64g", "-XX:+UseSerialGC",
                "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED"));
            command.addAll(List.of("-cp", System.getProperty("java.class.path"), ReplayedPoint.class.getName(),
                file(name + ".yaml").toString(), file(name + ".pcapng").toString(), Long.toString(HeldOutTrace.START_NS),
                Long.toString(beginNs), Integer.toString(Integer.getInteger(SLOWER_PROPERTY, 1)),
                Long.toString(ofPoint.aheadNs()), Long.toString(ofPoint.driftPpb()), Long.toString(ofPoint.jitterNs()),
                Long.toString(seed), Integer.toString(LEAD_S - shorterSeconds), Integer.toString(TAIL_S - shorterSeconds)));
            processes.add(new ProcessBuilder(command).redirectOutput(file(name + ".out").toFile())
                .redirectError(file(name + ".err").toFile()).start());
        }

        private double mostBps() throws IOException {
            double most = 0;
            try (BufferedReader lines = Files.newBufferedReader(file("receiver.out"))) {
                double beforeS = 0;
                long before = 0;
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    final String[] parts = line.split(",");
                    final double nowS = Double.parseDouble(parts[0]);
                    final long octets = Long.parseLong(parts[1]);
                    final double bps = 8 * (octets - before) / (nowS - beforeS);
                    results.note(String.format(Locale.ROOT, "until %.1f s: %.0f bit/s", nowS, bps));
                    most = Math.max(most, bps);
                    beforeS = nowS;
                    before = octets;
                }
            }
            return most;
        }

        private HeldOutRecords records() throws IOException {
            return new HeldOutRecords(trace, file("records"));
        }

        private void close() throws IOException {
            if (Boolean.getBoolean("flowlag.held-out.keep")) {
                results.note("kept: " + directory);
            } else {
                HeldOutExperiment.delete(directory);
            }
        }
    }
}

package io.flowlag.tests.benchmark;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.exporter.lab.CaptureWriter;
import io.flowlag.exporter.lab.TrafficProfile;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * {@code bin/benchmark files}: this program and other installed ones on the same captures. A first round, untimed, checks that
 * each saw every packet; later rounds interleave them. The captures are made once and kept.
 */
final class FileComparison {
    private static final int LIMIT_S = 600;
    private static final int SMALL_PACKETS = 100;
    private static final int WRONG_COMMAND_LINE = 64;
    private static final int FAILED = 1;
    private static final double MEBIBYTE = 1 << 20;
    private static final double NS = 1e9;
    private static final int FLOWS_AT_MOST = 1_000_000;

    private final FileOptions options;
    private final PrintStream out;
    private final PrintStream err;
    private final Map<ComparedExporter, Path> programs = new EnumMap<>(ComparedExporter.class);
    private boolean hasFailed;

    /** Measurements of an exporter on a capture, run by run, and the number of packets it saw. */
    private static final class Series {
        private final List<MeasuredProcess> runs = new ArrayList<>();
        private final List<MeasuredProcess> starts = new ArrayList<>();
        private long packetCount = -1;
        private long statedBytes;

        private double wallS() {
            return median(runs.stream().map(run -> run.wallNs() / NS).toList());
        }

        private double cpuS() {
            return median(runs.stream().map(run -> run.cpuNs() / NS).toList());
        }

        private double startS() {
            return median(starts.stream().map(run -> run.wallNs() / NS).toList());
        }

        private double peakMebibytes() {
            return median(runs.stream().map(run -> run.peakBytes() / MEBIBYTE).toList());
        }
    }

    private FileComparison(final FileOptions options, final PrintStream out, final PrintStream err) {
        this.options = options;
        this.out = out;
        this.err = err;
    }

    /**
     * Compares.
     *
     * @param arguments see {@link FileOptions}.
     * @return the exit code: 1 if an exporter failed or did not see every packet.
     * @throws IOException          if a file cannot be written or read.
     * @throws InterruptedException if interrupted.
     */
    static int run(final String[] arguments, final PrintStream out, final PrintStream err)
        throws IOException, InterruptedException {
        final FileOptions options;
        try {
            options = FileOptions.of(arguments);
        } catch (final IllegalArgumentException ex) {
            err.println("benchmark: " + ex.getMessage());
            return WRONG_COMMAND_LINE;
        }
        return new FileComparison(options, out, err).run();
    }

    private int run() throws IOException, InterruptedException {
        Files.createDirectories(options.directory());
        for (final ComparedExporter exporter : ComparedExporter.values()) {
            if (options.wants(exporter)) {
                exporter.find(this::given).ifPresentOrElse(
                    program -> programs.put(exporter, program),
                    () -> err.println("benchmark: " + exporter.exporterName() + " is not installed"));
            }
        }
        out.println(Machine.line());
        for (final int packets : options.packetCounts()) {
            for (final String profile : options.profiles()) {
                compare(profile(profile, packets));
            }
        }
        return hasFailed ? FAILED : 0;
    }

    private Optional<Path> given(final String name) {
        return Optional.ofNullable(options.programs().get(name.startsWith("flowlag") ? "flowlag" : name));
    }

    /** As many flows as the profile has for its packets, at most a million. */
    private static TrafficProfile profile(final String name, final int packets) {
        final TrafficProfile whole = Profiles.named(name);
        final long flows = Math.max(1, (long)whole.flowCount() * packets / whole.packetCount());
        return whole.toBuilder().packetCount(packets).flowCount((int)Math.min(FLOWS_AT_MOST, flows)).build();
    }

    private void compare(final TrafficProfile profile) throws IOException, InterruptedException {
        final Path capture = capture(profile);
        final Path small = capture(profile.toBuilder().packetCount(SMALL_PACKETS).flowCount(10).build());
        final Map<ComparedExporter, Series> series = new EnumMap<>(ComparedExporter.class);
        for (final ComparedExporter exporter : programs.keySet()) {
            series.put(exporter, new Series());
            check(exporter, capture, profile, series.get(exporter));
        }
        for (int round = 1; round <= options.rounds(); round++) {
            for (final Map.Entry<ComparedExporter, Series> each : series.entrySet()) {
                err.println("benchmark: " + profile.name() + ", round " + round + ": " + each.getKey().exporterName());
                each.getValue().runs.add(measure(each.getKey(), capture, profile.flowCount()));
                each.getValue().starts.add(measure(each.getKey(), small, 10));
            }
        }
        print(profile, capture, series);
    }

    private Path capture(final TrafficProfile profile) throws IOException {
        final Path file = options.directory().resolve(
            profile.name() + "-" + profile.packetCount() + "-" + profile.flowCount() + ".pcap");
        if (!Files.exists(file)) {
            err.println("benchmark: makes " + file);
            final Path part = file.resolveSibling(file.getFileName() + ".part");
            CaptureMaker.make(profile, part, CaptureWriter.Format.PCAP_NANOSECONDS);
            Files.move(part, file);
        }
        return file.toAbsolutePath();
    }

    private void check(
        final ComparedExporter exporter, final Path capture, final TrafficProfile profile, final Series series)
        throws IOException, InterruptedException {
        try (DatagramSink sink = exporter.isByUdp() ? new DatagramSink(true) : null) {
            final ComparedExporter.Run run = call(exporter, capture, profile.flowCount(), sink);
            final MeasuredProcess process = start(exporter, run);
            series.packetCount = exporter.packetCount(run, process.output(), sink);
            if (exporter == ComparedExporter.FLOWLAG && process.exitCode() == 0) {
                series.statedBytes = new ObjectMapper().readTree(run.statistics().toFile()).path("memory_bound_bytes").asLong();
            }
            if (series.packetCount != profile.packetCount()) {
                err.println("benchmark: " + exporter.exporterName() + " saw " + series.packetCount + " of " +
                    profile.packetCount() + " packets" + (sink == null || sink.damage() == null ? "" : ": " + sink.damage()));
                // A sink may lose datagrams, so losses of others on the way are ignored.
                hasFailed |= !exporter.isByUdp();
            }
        }
    }

    private MeasuredProcess measure(final ComparedExporter exporter, final Path capture, final long flowCount)
        throws IOException, InterruptedException {
        try (DatagramSink sink = exporter.isByUdp() ? new DatagramSink(false) : null) {
            return start(exporter, call(exporter, capture, flowCount, sink));
        }
    }

    private ComparedExporter.Run call(
        final ComparedExporter exporter, final Path capture, final long flowCount, final DatagramSink sink) throws IOException {
        final Path directory = Files.createDirectories(options.directory().resolve(exporter.exporterName()));
        return new ComparedExporter.Run(programs.get(exporter).toString(), capture.toString(), flowCount,
            directory.toAbsolutePath(), sink == null ? 0 : sink.port());
    }

    private MeasuredProcess start(final ComparedExporter exporter, final ComparedExporter.Run run)
        throws IOException, InterruptedException {
        final MeasuredProcess process = MeasuredProcess.run(exporter.command(run), run.directory(), LIMIT_S);
        if (process.exitCode() != 0) {
            err.println("benchmark: " + exporter.exporterName() + " ended with " + process.exitCode() + ": " + process.output());
            hasFailed = true;
        }
        return process;
    }

    private void print(
        final TrafficProfile profile, final Path capture, final Map<ComparedExporter, Series> all) throws IOException {
        out.printf(Locale.ROOT, "%n%s: %d packets in %d flows, %.0f MB; medians of %d rounds%n", profile.name(),
            profile.packetCount(), profile.flowCount(), Files.size(capture) / 1e6, options.rounds());
        out.printf(Locale.ROOT, "%-16s %12s %9s %9s %9s %9s %9s %14s %14s%n", "exporter", "packets", "wall s", "start s",
            "rest s", "CPU s", "RSS MiB", "flowlag/wall", "flowlag/CPU");
        final Series ours = all.get(ComparedExporter.FLOWLAG);
        for (final Map.Entry<ComparedExporter, Series> each : all.entrySet()) {
            final Series series = each.getValue();
            out.printf(Locale.ROOT, "%-16s %12d %9.3f %9.3f %9.3f %9.3f %9.0f %14s %14s%n", each.getKey().exporterName(),
                series.packetCount, series.wallS(), series.startS(), series.wallS() - series.startS(), series.cpuS(),
                series.peakMebibytes(), ratio(ours == null ? 0 : ours.wallS(), series.wallS()),
                ratio(ours == null ? 0 : ours.cpuS(), series.cpuS()));
        }
        if (ours != null && ours.statedBytes > 0) {
            out.printf(Locale.ROOT, "flowlag states %.0f MiB for packets and flows at its start; it has %.2f of that",
                ours.statedBytes / MEBIBYTE, ours.peakMebibytes() * MEBIBYTE / ours.statedBytes);
            final Series yaf = all.get(ComparedExporter.YAF);
            out.println(yaf == null ? "" :
                String.format(Locale.ROOT, ", and %+.0f MiB beside yaf", ours.peakMebibytes() - yaf.peakMebibytes()));
        }
        out.flush();
    }

    private static String ratio(final double ours, final double other) {
        return ours == 0 || other == 0 ? "-" : String.format(Locale.ROOT, "%.2f", ours / other);
    }

    private static double median(final List<Double> values) {
        final double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        final int middle = sorted.length / 2;
        return sorted.length == 0 ? 0 : sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }
}

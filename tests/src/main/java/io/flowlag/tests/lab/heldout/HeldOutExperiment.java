package io.flowlag.tests.lab.heldout;

import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Evaluates {@code flowlag delay} on captures with known truth and seeds drawn at run time: accuracy of means, coverage of
 * bounds, exactness of losses, and run time.
 */
public final class HeldOutExperiment implements Experiment {
    /** System property: the paths, separated by commas; all of them by default. */
    static final String PATHS_PROPERTY = "flowlag.held-out.paths";
    /** System property: the settings, separated by commas; {@code default,joint} by default. */
    static final String SETTINGS_PROPERTY = "flowlag.held-out.settings";

    private static final int USAGE_ERROR = 64;
    private static final int LEAST_FLOWS_OF_CLASS = 2_000;

    /** Settings of the product. */
    private enum Settings {
        /** Nothing but the captures. */
        DEFAULT(false),
        /** Joint estimation with the capacity alone. */
        JOINT(true),
        /** Both captures in one interval. */
        ONE_INTERVAL(true, "--interval", "5s"),
        /** With room for the flows, as version 0.1.0 needed. */
        MORE_FLOWS(true, "--interval", "5s", "--max-flows", "256k", "--set", "joint.max-flows=256k"),
        /** With reconciliation besides. */
        RECONCILE(true, "--interval", "5s", "--max-flows", "256k", "--set", "joint.max-flows=256k", "--reconcile"),
        /** Every limit set. */
        BY_HAND(true, "--interval", "5s", "--max-flows", "512k", "--rows", "4", "--columns", "25000", "--reconcile",
            "--set", "joint.max-flows=512k", "--set", "joint.budget=60s", "--set", "joint.pending=2m",
            "--set", "reconcile.packets=2m", "--set", "reconcile.cells=256k");

        private final boolean isJoint;
        private final List<String> more;

        Settings(final boolean isJoint, final String... more) {
            this.isJoint = isJoint;
            this.more = List.of(more);
        }

        String label() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }

        /** Arguments, including those that versions without automatic parents need. */
        List<String> arguments(final long capacityBps, final boolean isOld) {
            final List<String> joint = isJoint ? List.of(
                "--estimators", isOld ? "rli,lds,joint" : "joint", "--capacity", capacityBps / 1_000_000 + "m") : List.of();
            return Stream.concat(joint.stream(), more.stream()).toList();
        }
    }

    static long firstSeed(final Setup setup) {
        return setup.firstSeed(1 + new SecureRandom().nextInt(1_000_000_000));
    }

    static int flows(final Setup setup, final HeldOutPath path) {
        return setup.size(2_000, 20_000, path == HeldOutPath.FIFO_88 ? 200_000 : 100_000);
    }

    static List<HeldOutPath> paths() {
        final String named = System.getProperty(PATHS_PROPERTY);
        return named != null ? HeldOutPath.named(named) : List.of(HeldOutPath.values());
    }

    private static List<Settings> settings() {
        return Arrays.stream(System.getProperty(SETTINGS_PROPERTY, "default,joint").split(","))
            .map(label -> Settings.valueOf(label.toUpperCase(Locale.ROOT).replace('-', '_'))).toList();
    }

    @Override
    public void run(final Setup setup, final Results results) {
        final JudgedProduct product = new JudgedProduct();
        final long firstSeed = firstSeed(setup);
        results.note("seeds " + firstSeed + " to " + (firstSeed + setup.seeds() - 1) + ", judged: " + product.name());
        final Table runs = results.measured("runs", "Time and memory of flowlag delay, one run; the most memory of any run",
            "path", "settings", "flows", "packets", "lost", "records", "seconds", "CPU s", "memory MB");
        final Table flows = results.table("flows", "All flows that arrived, over " + setup.seeds() + " seeds from " + firstSeed,
            "path", "settings", "flows", "with mean %", "exact %", "joint %", "loss known %", "loss exact %", "bounded %",
            "bound holds %", "half width / error", "100 and more: error %", "references %", "sketches %", "joint estimate %");
        final Table sizes = results.table("sizes", "By packets of the flow; median relative errors", "path", "settings",
            "packets", "flows", "with mean %", "error %", "references %", "sketches %", "joint estimate %",
            "error / better parent", "bound holds %", "half width / error");
        for (final HeldOutPath path : paths()) {
            try {
                judge(setup, path, firstSeed, product, results, runs, flows, sizes);
            } catch (final IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }
    }

    private static void judge(
        final Setup setup, final HeldOutPath path, final long firstSeed, final JudgedProduct product, final Results results,
        final Table runs, final Table flows, final Table sizes) throws IOException {
        final List<Settings> settings = settings();
        final List<HeldOutScore> scores = new ArrayList<>();
        settings.forEach(each -> scores.add(new HeldOutScore()));
        long packets = 0;
        long lost = 0;
        for (int i = 0; i < setup.seeds(); i++) {
            final HeldOutTrace trace = new HeldOutTrace(path, flows(setup, path), firstSeed + i);
            packets += trace.packets();
            lost += trace.lostPackets();
            final Path directory = Files.createTempDirectory("flowlag-held-out");
            try {
                trace.writeCaptures(directory.resolve("sender.pcapng"), directory.resolve("receiver.pcapng"));
                for (int j = 0; j < scores.size(); j++) {
                    measure(trace, settings.get(j), product, directory, scores.get(j));
                }
            } finally {
                delete(directory);
            }
        }
        for (int j = 0; j < scores.size(); j++) {
            final String label = settings.get(j).label();
            final HeldOutScore score = scores.get(j);
            runs.row(path.label(), label, flows(setup, path), packets / setup.seeds(), lost / setup.seeds(),
                score.records / setup.seeds(), score.seconds / setup.seeds(), score.cpuSeconds / setup.seeds(),
                score.peakBytes / 1e6);
            add(path, label, score, flows, sizes, results);
        }
    }

    private static void measure(
        final HeldOutTrace trace, final Settings settings, final JudgedProduct product, final Path directory,
        final HeldOutScore score) throws IOException {
        final Path records = directory.resolve("records.ipfix");
        JudgedProduct.Run run = null;
        for (int attempt = 0; attempt < 2 && (run == null || run.exitCode() == USAGE_ERROR); attempt++) {
            Files.deleteIfExists(records);
            final List<String> arguments = new ArrayList<>(List.of("delay", "-s", directory.resolve("sender.pcapng").toString(),
                "-r", directory.resolve("receiver.pcapng").toString(), "--export", "file:" + records));
            arguments.addAll(settings.arguments(trace.capacityBps(), attempt > 0));
            run = product.run(arguments);
        }
        if (run.exitCode() != 0) {
            throw new IllegalStateException("flowlag delay, " + settings.label() + ": exit " + run.exitCode() + "\n" +
                run.messages());
        }
        score.add(trace, new HeldOutRecords(trace, records), run);
    }

    static void delete(final Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            for (final Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(directory);
    }

    private static void add(
        final HeldOutPath path, final String label, final HeldOutScore score, final Table flows, final Table sizes,
        final Results results) {
        final HeldOutScore.Size all = score.all;
        final HeldOutScore.Medians medians = all.medians();
        final HeldOutScore.Medians large = score.large.medians();
        flows.row(path.label(), label, all.flows, percent(all.withMean, all.flows), percent(all.exact, all.flows),
            percent(all.joint, all.flows), percent(all.lossKnown, all.flows), percent(all.lossRight, all.flows),
            percent(all.bounded, all.flows), percent(all.held, all.bounded), medians.width(),
            large.error(), large.reference(), large.sketch(), large.joint());
        double worstOverParent = Double.NaN;
        double leastHeld = Double.NaN;
        for (final HeldOutScore.Size size : score.sizes) {
            final HeldOutScore.Medians each = size.medians();
            sizes.row(path.label(), label, size.label, size.flows, percent(size.withMean, size.flows), each.error(),
                each.reference(), each.sketch(), each.joint(), each.overParent(), percent(size.held, size.bounded),
                each.width());
            if (!Double.isNaN(each.overParent())) {
                worstOverParent = Math.max(Double.isNaN(worstOverParent) ? 0 : worstOverParent, each.overParent());
            }
            if (size.bounded >= LEAST_FLOWS_OF_CLASS) {
                final double held = percent(size.held, size.bounded);
                leastHeld = Double.isNaN(leastHeld) ? held : Math.min(leastHeld, held);
            }
        }
        results.note(String.format(Locale.ROOT, "%s, %s: %d of %d flows without a mean, %d not exact; %d losses not exact; " +
                "bounds hold for %.2f %%, at least %.2f %% of a size; the worst size has %.3f times the better parent's error",
            path.label(), label, all.flows - all.withMean, all.flows, all.flows - all.exact, all.flows - all.lossRight,
            percent(all.held, all.bounded), leastHeld, worstOverParent));
    }

    private static double percent(final int part, final int whole) {
        return whole == 0 ? Double.NaN : 100.0 * part / whole;
    }
}

package io.flowlag.tests.lab;

import io.flowlag.exporter.lab.Laboratory;
import io.flowlag.tests.lab.report.Comparison;
import io.flowlag.tests.lab.report.HtmlReport;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.PlotRenderer;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Scale;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** The laboratory behind {@code flowlag lab}: runs experiments in parallel and writes their results in order. */
public final class PaperLaboratory implements Laboratory {
    private static final int THREADS_AT_MOST = 4;
    private static final String NOTHING_TO_DRAW = "";

    /** The laboratory with {@link Experiments#all}. */
    public PaperLaboratory() {
        // Stateless; the service loader requires a constructor.
    }

    @Override
    public List<Listing> listings() {
        return Experiments.all().stream().map(Experiments.Entry::listing).toList();
    }

    @Override
    public void run(final Order order, final Consumer<String> out, final Consumer<String> progress) throws IOException {
        final long startNs = System.nanoTime();
        final Scale scale = order.isPaperScale() ? Scale.PAPER : Scale.SMALL;
        final Setup setup = new Setup(scale, order.seeds() == 0 ? scale.seeds() : order.seeds(), order.firstSeed());
        final List<Experiments.Entry> wanted = Experiments.all().stream()
            .filter(experiment -> order.names().contains(experiment.listing().name())).toList();
        final int threads = Math.min(wanted.size(), Math.min(THREADS_AT_MOST, Runtime.getRuntime().availableProcessors()));
        final ExecutorService executor = Executors.newFixedThreadPool(threads);
        final String command = command(order, setup);
        final HtmlReport report = new HtmlReport(command, setup);
        try {
            final AtomicInteger done = new AtomicInteger();
            final List<Future<HtmlReport.Part>> futures = new ArrayList<>();
            for (final Experiments.Entry experiment : wanted) {
                futures.add(executor.submit(() -> {
                    progress.accept(
                        "lab: " + experiment.listing().name() + " runs, " + done.get() + " of " + wanted.size() + " done");
                    final HtmlReport.Part part = measure(experiment, setup);
                    done.incrementAndGet();
                    return part;
                }));
            }
            for (final Future<HtmlReport.Part> future : futures) {
                final HtmlReport.Part part = await(future);
                write(part, order.directory(), out);
                report.add(part);
            }
        } finally {
            executor.shutdownNow();
        }
        if (order.isAll()) {
            final Path file = order.directory().resolve("report.html");
            Files.writeString(file, report.html(Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(), machine(),
                (System.nanoTime() - startNs) / 1e9));
            out.accept("report: " + file);
        }
    }

    private static String command(final Order order, final Setup setup) {
        return "bin/flowlag lab " + (order.isAll() ? ALL : order.names().get(0)) + " --seeds " + setup.seeds() +
            (order.firstSeed() == 0 ? "" : " --first-seed " + order.firstSeed()) + " --scale " +
            setup.scale().name().toLowerCase(Locale.ROOT);
    }

    private static String machine() {
        return System.getProperty("os.name") + " " + System.getProperty("os.arch") + ", Java " +
            System.getProperty("java.version") + ", " + Runtime.getRuntime().availableProcessors() + " processors";
    }

    private static HtmlReport.Part measure(final Experiments.Entry experiment, final Setup setup) {
        final long beforeNs = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        final Results results = experiment.experiment().run(setup);
        final List<String> svgs = new ArrayList<>();
        for (final Plot plot : results.plots()) {
            final String svg = PlotRenderer.svg(plot);
            svgs.add(svg == null ? NOTHING_TO_DRAW : svg);
        }
        return new HtmlReport.Part(experiment.listing(), results, svgs,
            (ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - beforeNs) / 1e9);
    }

    private static HtmlReport.Part await(final Future<HtmlReport.Part> future) {
        try {
            return future.get();
        } catch (final ExecutionException ex) {
            if (ex.getCause() instanceof Error error) {
                throw error;
            }
            throw new IllegalStateException("an experiment failed: " + ex.getCause(), ex.getCause());
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", ex);
        }
    }

    /** Writes files first, so that results exist even if a later experiment fails. */
    private static void write(final HtmlReport.Part part, final Path directory, final Consumer<String> out) throws IOException {
        final String name = part.listing().name();
        final Results results = part.results();
        out.accept(name + " (" + part.listing().source() + "): " + part.listing().purpose());
        for (final Table table : results.tables()) {
            final Path file = directory.resolve(name + "-" + table.name() + (table.isMeasured() ? ".times.csv" : ".csv"));
            Files.writeString(file, table.csv());
            out.accept("  table " + file);
        }
        for (int i = 0; i < part.svgs().size(); i++) {
            if (part.svgs().get(i).equals(NOTHING_TO_DRAW)) {
                continue;
            }
            final Path file = directory.resolve(name + "-" + results.plots().get(i).name() + ".svg");
            Files.writeString(file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + part.svgs().get(i));
            out.accept("  plot  " + file);
        }
        for (final Results.Output output : results.outputs()) {
            final Path file = directory.resolve(name + "-" + output.name());
            output.writer().write(file);
            out.accept("  file  " + file);
        }
        for (final Comparison comparison : results.comparisons()) {
            out.accept("  " + comparison.line());
        }
        results.notes().forEach(note -> out.accept("  " + note));
        out.accept(String.format(Locale.ROOT, "  %.1f s of CPU", part.cpuSeconds()));
    }
}

package io.flowlag.tests.soak;

import io.flowlag.exporter.status.CounterId;
import io.flowlag.tests.support.Checkout;
import io.flowlag.tests.system.station.ClusterKillsMain;
import io.flowlag.tests.system.station.CollectorComparison;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * What {@code bin/soak} runs: {@code [--minutes N] [--rate N] [--flows N] [--write]}, or {@code --faults [--minutes N]
 * [--seed N]}, or {@code --steps [--minutes N] [--rate N] [--flows N] [--lost-ppm N] [--keys LINE;LINE]}, or what
 * {@link ClusterKillsMain} takes, or {@code --station} and what {@link CollectorComparison} does. Prints a table, with
 * {@code --write} into docs/reliability.md too; ends with 1 if counters do not add up or something grew.
 */
public final class SoakMain {
    private static final int PARTS = 40;
    private static final int ROWS = 10;
    private static final double PPM = 1e6;
    private static final String BEGIN = "<!-- soak: written by bin/soak --write -->";
    private static final String END = "<!-- end of soak -->";

    private SoakMain() {
    }

    /**
     * Runs.
     *
     * @param args as the type says.
     * @throws Exception if it could not be run.
     */
    public static void main(final String[] args) throws Exception {
        if (Arrays.asList(args).contains("--cluster")) {
            ClusterKillsMain.main(args);
        }
        if (Arrays.asList(args).contains("--station")) {
            CollectorComparison.main(args);
            System.exit(0);
        }
        if (Arrays.asList(args).contains("--faults")) {
            System.exit(faults(args) ? 0 : 1);
        }
        if (Arrays.asList(args).contains("--steps")) {
            System.exit(steps(args) ? 0 : 1);
        }
        final Soak.Plan plan = new Soak.Plan(Duration.ofMinutes(option(args, "--minutes", 120)),
            option(args, "--rate", 200_000), (int)option(args, "--flows", 20_000), PARTS);
        final Path directory = Files.createTempDirectory("flowlag-soak");
        final Soak.Outcome outcome = new Soak(plan, directory).run();
        final List<String> faults = new ArrayList<>(outcome.faults());
        faults.addAll(Soak.growth(outcome));
        final String report = report(plan, outcome, faults);
        System.out.print(report);
        if (Arrays.asList(args).contains("--write")) {
            write(Checkout.root().resolve("docs/reliability.md"), report);
        }
        System.exit(faults.isEmpty() ? 0 : 1);
    }

    /** Whether no law was broken. */
    private static boolean faults(final String[] args) throws Exception {
        final Duration duration = Duration.ofMinutes(option(args, "--minutes", 120));
        final FaultSoak.Outcome outcome = new FaultSoak(duration, option(args, "--seed", System.nanoTime()),
            Files.createTempDirectory("flowlag-soak")).run();
        final StringBuilder text = new StringBuilder();
        line(text, "%s, %d minutes of faults:", LocalDate.now(), duration.toMinutes());
        line(text, "");
        table(text, outcome.samples());
        line(text, "");
        line(text, "%s", outcome.figures());
        line(text, "%s", outcome.broken().isEmpty() ? "No law was broken, and nothing grew." :
            "FAULTS: " + String.join("\n", outcome.broken()));
        System.out.print(text);
        return outcome.broken().isEmpty();
    }

    /** Whether every step was met. */
    private static boolean steps(final String[] args) throws Exception {
        final SteppedTraffic.Load base = new SteppedTraffic.Load(
            option(args, "--rate", 400), (int)option(args, "--flows", 300), option(args, "--lost-ppm", 200) / PPM);
        final int keys = Arrays.asList(args).indexOf("--keys");
        final SteppedSoak.Outcome outcome = new SteppedSoak(Duration.ofMinutes(option(args, "--minutes", 10)), base,
            keys < 0 ? List.of() : List.of(args[keys + 1].split(";")), Files.createTempDirectory("flowlag-soak")).run();
        final StringBuilder text = new StringBuilder();
        line(text, "| load | packets/s | flows | lost | compared | error, %: median / 90 % (of flows) | " +
            "sized by hand | state |");
        line(text, "|---|---|---|---|---|---|---|---|");
        outcome.rows().forEach((row) -> line(text, "%s", row));
        line(text, "");
        outcome.log().forEach((each) -> line(text, "%s", each));
        line(text, "%s", outcome.faults().isEmpty() ? "Every step was met." : "FAULTS: " + String.join("\n", outcome.faults()));
        System.out.print(text);
        return outcome.faults().isEmpty();
    }

    private static void table(final StringBuilder text, final List<Soak.Sample> samples) {
        line(text, "| second | packets | heap behind a collection, KiB | resident, KiB | descriptors | threads |");
        line(text, "|---|---|---|---|---|---|");
        for (int i = 0; i < samples.size(); i += Math.max(1, samples.size() / ROWS)) {
            final Soak.Sample each = samples.get(i);
            line(text, "| %d | %d | %d | %d | %d | %d |", each.second(), each.sent(), each.heapKib(), each.rssKib(),
                each.descriptors(), each.threads());
        }
    }

    private static long option(final String[] args, final String option, final long otherwise) {
        final int index = Arrays.asList(args).indexOf(option);
        return index < 0 ? otherwise : Long.parseLong(args[index + 1]);
    }

    private static String report(final Soak.Plan plan, final Soak.Outcome outcome, final List<String> faults) {
        final StringBuilder text = new StringBuilder();
        final double seconds = plan.duration().toSeconds();
        line(text, "%s, %d minutes, at most %d packets/s, %d flows at once:", LocalDate.now(), plan.duration().toMinutes(),
            plan.packetsPerSecond(), plan.flows());
        line(text, "");
        table(text, outcome.samples());
        line(text, "");
        line(text, "%d packets sent (%.0f a second) = %d captured = %d decoded + %d refused + %d lost in the kernel.",
            outcome.sent(), outcome.sent() / seconds, outcome.stats().counter(CounterId.CAPTURED),
            outcome.stats().counter(CounterId.DECODED), outcome.stats().refused(),
            outcome.stats().counter(CounterId.LOST_IN_KERNEL));
        line(text, "%d packets metered, %d dropped at the packet ring; %d flows; %d records exported = %d collected.",
            outcome.stats().counter(CounterId.METERED), outcome.stats().counter(CounterId.DROPPED_AT_PACKET_RING),
            outcome.stats().counter(CounterId.FLOWS_CREATED), outcome.stats().destination(0, "records_exported"),
            outcome.collected());
        line(text, faults.isEmpty() ? "Everything adds up, and nothing grew." : "FAULTS: " + String.join("; ", faults));
        return text.toString();
    }

    private static void line(final StringBuilder text, final String format, final Object... values) {
        text.append(values.length == 0 ? format : String.format(Locale.ROOT, format, values)).append('\n');
    }

    private static void write(final Path page, final String report) throws IOException {
        final String text = Files.readString(page);
        final int begin = text.indexOf(BEGIN) + BEGIN.length();
        final int end = text.indexOf(END);
        if (end < begin) {
            throw new IOException(page + " has no place for it");
        }
        Files.writeString(page, text.substring(0, begin) + "\n" + report + text.substring(end));
    }
}

package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.common.config.Names;
import io.flowlag.exporter.lab.Laboratory;
import io.flowlag.exporter.terminal.OutputFiles;
import io.flowlag.exporter.terminal.Terminal;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;

/** {@code flowlag lab}. */
@Command(name = "lab", description = {
    "Runs an experiment of the laboratory: a paper's figure as tables (CSV) and plots (SVG), next to the paper's numbers.",
    "Without a name, or with 'list', lists the experiments; 'all' runs every one and writes a report, report.html."})
final class LabCommand implements Callable<Integer> {
    private static final String LIST = "list";
    private static final int SEEDS_AT_MOST = 1000;
    private static final long FIRST_SEED_AT_MOST = 1_000_000_000;

    @Parameters(index = "0", arity = "0..1", paramLabel = "NAME", description = "An experiment, 'all', or 'list'.")
    private String name = LIST;

    @Option(names = "--seeds", paramLabel = "N",
        description = "Seeds of the traffic, from 1 on; tables hold medians over them. Default: 3, at the paper's scale 10.")
    private Integer seeds;

    @Option(names = "--first-seed", paramLabel = "N",
        description = "The first seed of joint, held-out and held-out-captures, from 1 on. Default: their own, or drawn.")
    private Long firstSeed;

    @Option(names = "--out", paramLabel = "DIR", defaultValue = "lab",
        description = "Where the files go; made if it is not there. Default: lab.")
    private Path directory;

    @Option(names = "--scale", paramLabel = "SCALE", defaultValue = "small",
        description = "small, or paper: as many flows and packets as the papers have, or as fit. Default: small.")
    private Scale scale;

    private final Terminal terminal;

    /** How large experiments are: all of them in minutes, or as large as the papers' or as memory allows. */
    enum Scale {
        SMALL, PAPER
    }

    LabCommand(final Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        final Laboratory laboratory = ServiceLoader.load(Laboratory.class).findFirst().orElseThrow(() -> new ExitException(
            ExitCode.NO_INPUT, "lab: the experiments are not part of this package; bin/flowlag lab of a source tree has them"));
        final List<Laboratory.Listing> listings = laboratory.listings();
        if (LIST.equals(name)) {
            listings.forEach(this::print);
            return ExitCode.DONE.number();
        }
        final List<String> known = listings.stream().map(Laboratory.Listing::name).toList();
        final boolean isAll = Laboratory.ALL.equals(name);
        if (!isAll && !known.contains(name)) {
            final String nearest = Names.nearest(name, known);
            throw new ExitException(ExitCode.USAGE, "lab: '" + name + "' is no experiment" +
                (nearest == null ? "." : "; did you mean " + nearest + "?") + " Known are all, " + String.join(", ", known));
        }
        if (seeds != null && (seeds < 1 || seeds > SEEDS_AT_MOST)) {
            throw new ExitException(ExitCode.USAGE, "lab: --seeds " + seeds + ": must be 1 to " + SEEDS_AT_MOST);
        }
        checkFirstSeed(listings);
        run(laboratory, new Laboratory.Order(isAll ? known : List.of(name), isAll, seeds == null ? 0 : seeds,
            firstSeed == null ? 0 : firstSeed, scale == Scale.PAPER, directory));
        return ExitCode.DONE.number();
    }

    private void checkFirstSeed(final List<Laboratory.Listing> listings) {
        if (firstSeed == null) {
            return;
        }
        if (firstSeed < 1 || firstSeed > FIRST_SEED_AT_MOST) {
            throw new ExitException(
                ExitCode.USAGE, "lab: --first-seed " + firstSeed + ": must be 1 to " + FIRST_SEED_AT_MOST);
        }
        if (listings.stream().noneMatch(listing -> listing.name().equals(name) && listing.takesFirstSeed())) {
            throw new ExitException(ExitCode.USAGE, "lab: --first-seed is not for " + name + ", but for " + String.join(", ",
                listings.stream().filter(Laboratory.Listing::takesFirstSeed).map(Laboratory.Listing::name).toList()));
        }
    }

    private void run(final Laboratory laboratory, final Laboratory.Order order) {
        try {
            Files.createDirectories(directory);
            laboratory.run(order, this::printNow, terminal::status);
        } catch (final IOException ex) {
            throw new ExitException(ExitCode.CANNOT_WRITE,
                "lab: cannot write to " + directory + ": " + OutputFiles.reason(ex) + "; name another directory with --out");
        } finally {
            terminal.eraseStatus();
        }
    }

    /** An experiment may take minutes; what was found is shown as it comes. */
    private void printNow(final String line) {
        terminal.eraseStatus();
        terminal.out().println(line);
        terminal.out().flush();
    }

    private void print(final Laboratory.Listing listing) {
        terminal.out().printf(Locale.ROOT, "%-20s %-22s %s%n", listing.name(), listing.source(), listing.purpose());
    }
}

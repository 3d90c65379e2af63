package io.flowlag.tests.benchmark;

import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;

import java.io.IOException;
import java.util.Arrays;

/** The command {@code bin/benchmark}. */
public final class Benchmarks {
    private static final int WRONG_COMMAND_LINE = 64;
    private static final int FAILED = 1;

    private Benchmarks() {
    }

    /**
     * Runs benchmarks.
     *
     * @param arguments what to run, and its options.
     * @throws Exception if it cannot be run.
     */
    public static void main(final String[] arguments) throws Exception {
        final String what = arguments.length == 0 ? "files" : arguments[0];
        final String[] rest = Arrays.copyOfRange(arguments, Math.min(1, arguments.length), arguments.length);
        System.exit(run(what, rest));
    }

    private static int run(final String what, final String[] rest) throws IOException, InterruptedException {
        switch (what) {
            case "jmh" -> {
                return jmh(rest);
            }
            case "files" -> {
                return FileComparison.run(rest, System.out, System.err);
            }
            case "live" -> {
                return LiveComparison.run(rest, System.out, System.err);
            }
            case "send" -> {
                return FrameSender.run(rest);
            }
            default -> {
                System.err.println("benchmark: '" + what + "' is none of files, live, jmh; bin/benchmark --help says more");
                return WRONG_COMMAND_LINE;
            }
        }
    }

    /** All options of JMH work, including those that only print; without a name every benchmark runs. */
    private static int jmh(final String[] arguments) {
        try {
            final CommandLineOptions line = new CommandLineOptions(arguments);
            final Runner runner = new Runner(new OptionsBuilder().parent(line).addProfiler(GCProfiler.class).build());
            if (line.shouldHelp()) {
                line.showHelp();
            } else if (line.shouldList()) {
                runner.list();
            } else if (line.shouldListWithParams()) {
                runner.listWithParams(line);
            } else if (line.shouldListProfilers()) {
                line.listProfilers();
            } else if (line.shouldListResultFormats()) {
                line.listResultFormats();
            } else {
                runner.run();
            }
            return 0;
        } catch (final IOException ex) {
            System.err.println("benchmark: " + ex);
            return FAILED;
        } catch (final CommandLineOptionException ex) {
            System.err.println("benchmark: " + ex.getMessage());
            return WRONG_COMMAND_LINE;
        } catch (final RunnerException ex) {
            System.err.println("benchmark: " + ex.getMessage());
            return FAILED;
        }
    }
}

package io.flowlag.tests.lab.heldout;

import io.flowlag.exporter.command.Main;
import io.flowlag.exporter.terminal.Terminal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The captures match the generator, and the evaluation detects errors. */
class HeldOutTest {
    private static final int MEAN_COLUMN = 7;
    private static final int DEVIATION_COLUMN = 8;

    private final long seed = new SecureRandom().nextLong();

    @TempDir
    Path directory;

    /** Matching every packet of the captures finds the truth that is written with them. */
    @Test
    void shouldWriteWhatIsTrue() throws IOException {
        for (final HeldOutPath path : HeldOutPath.values()) {
            final HeldOutTrace trace = new HeldOutTrace(path, 500, seed);
            final Path truth = directory.resolve("truth.csv");
            final Path matched = directory.resolve("matched.csv");
            trace.writeTruth(truth);
            delay(trace, "--truth", matched.toString());

            final List<String> expected = Files.readAllLines(truth);
            final List<String> found = new ArrayList<>(Files.readAllLines(matched));
            assertEquals(expected.size(), found.size(), path + ", seed " + seed);
            expected.sort(null);
            found.sort(null);
            for (int i = 0; i < found.size(); i++) {
                assertEqualLines(expected.get(i).split(",", -1), found.get(i).split(",", -1), path + ", seed " + seed);
            }
        }
    }

    /** Sums are in another order. */
    private static void assertEqualLines(final String[] expected, final String[] found, final String message) {
        assertEquals(expected.length, found.length, message);
        for (int column = 0; column < found.length; column++) {
            if ((column == MEAN_COLUMN || column == DEVIATION_COLUMN) && expected[column].matches("[0-9].*")) {
                assertEquals(Double.parseDouble(expected[column]), Double.parseDouble(found[column]), 0.01, message);
            } else {
                assertEquals(expected[column], found[column], message);
            }
        }
    }

    /** The same flows behind another path: every mean is wrong then, and no bound holds. */
    @Test
    void shouldTellRightFromWrong() throws IOException {
        final HeldOutTrace trace = new HeldOutTrace(HeldOutPath.WEIBULL, 1_000, seed);
        final Path records = directory.resolve("records");
        final JudgedProduct.Run run = delay(trace, "--export", "file:" + records);
        final HeldOutScore right = new HeldOutScore();
        right.add(trace, new HeldOutRecords(trace, records), run);
        final HeldOutTrace other = new HeldOutTrace(HeldOutPath.FIFO_88, 1_000, seed);
        final HeldOutScore wrong = new HeldOutScore();
        wrong.add(other, new HeldOutRecords(other, records), run);

        assertEquals(1_000, right.all.flows, "seed " + seed);
        assertEquals(1_000, right.all.exact, "seed " + seed);
        assertEquals(1_000, right.all.lossRight, "seed " + seed);
        assertEquals(right.all.bounded, right.all.held, "seed " + seed);
        assertEquals(0, right.all.medians().error(), 1e-3, "seed " + seed);
        assertTrue(wrong.all.exact < 20, wrong.all.exact + " exact, seed " + seed);
        assertTrue(wrong.all.lossRight < 1_000, "seed " + seed);
        assertTrue(wrong.all.medians().error() > 10, "seed " + seed);
    }

    private JudgedProduct.Run delay(final HeldOutTrace trace, final String... more) throws IOException {
        final Path sender = directory.resolve("sender.pcapng");
        final Path receiver = directory.resolve("receiver.pcapng");
        trace.writeCaptures(sender, receiver);
        final List<String> arguments = new ArrayList<>(
            List.of("delay", "-s", sender.toString(), "-r", receiver.toString(), "--estimators", "exact"));
        arguments.addAll(List.of(more));
        final PrintStream silent = new PrintStream(OutputStream.nullOutputStream());
        assertEquals(0, Main.run(new Terminal(silent, silent, false), arguments.toArray(new String[0])), "seed " + seed);
        return new JudgedProduct.Run(0, 0, 0, 0, "");
    }
}

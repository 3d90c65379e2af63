package io.flowlag.tests.lab.heldout;

import io.flowlag.exporter.command.Main;
import io.flowlag.exporter.terminal.Terminal;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Without a joint solution, the better of references and sketches is used for each flow. Independent delays make references
 * worthless, and their own bounds false.
 */
class ParentsTest {
    private static final int FLOWS = 8_000;
    private static final long SEED = 20_261_123;

    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"--estimators rli,lds", "--estimators joint --set joint.max-flows=64"})
    void shouldLeadWithTheParentThatKnowsMore(final String settings) throws IOException {
        final HeldOutTrace trace = new HeldOutTrace(HeldOutPath.WEIBULL, FLOWS, SEED);
        final Path sender = directory.resolve("s.pcapng");
        final Path receiver = directory.resolve("r.pcapng");
        final Path records = directory.resolve("records.ipfix");
        trace.writeCaptures(sender, receiver);
        final ByteArrayOutputStream said = new ByteArrayOutputStream();
        final PrintStream stream = new PrintStream(said, true, StandardCharsets.UTF_8);
        final List<String> arguments = new ArrayList<>(List.of(
            "delay", "-s", sender.toString(), "-r", receiver.toString(), "--export", "file:" + records, "--capacity",
            trace.capacityBps() / 1_000_000 + "m", "--set", "lds.columns=" + FLOWS / 2));
        arguments.addAll(Arrays.asList(settings.split(" ")));
        assertEquals(0, Main.run(new Terminal(stream, stream, false), arguments.toArray(new String[0])), said::toString);

        final HeldOutScore score = new HeldOutScore();
        score.add(trace, new HeldOutRecords(trace, records), new JudgedProduct.Run(0, 0, 0, 0, ""));
        final HeldOutScore.Medians large = score.large.medians();
        final String found = settings + ": " + large + ", bounds hold for " + score.all.held + " of " + score.all.bounded;
        assertEquals(FLOWS, score.all.withMean, found);
        assertTrue(large.error() < 0.2 * large.reference() && large.error() <= 1.05 * large.sketch(), found);
        assertTrue(score.all.held > 0.85 * score.all.bounded, found);
    }
}

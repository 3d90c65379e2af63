package io.flowlag.tests.interop;

import io.flowlag.exporter.lab.CaptureWriter;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.exporter.lab.SimulatedSegment;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.Tools;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** The options records of delay as another reader of IPFIX files sees them. */
@Tag("interop")
class DelayOptionsTest {
    @TempDir
    private Path directory;

    @Test
    void shouldShowSegmentAndIntervalsInTshark() throws IOException {
        final Path sender = directory.resolve("sender.pcap");
        final Path receiver = directory.resolve("receiver.pcap");
        final Path file = directory.resolve("delay.ipfix");
        new SimulatedSegment(SegmentProfile.demo()).writeCaptures(sender, receiver, CaptureWriter.Format.PCAP_NANOSECONDS);
        new Flowlag().inThisJvm().run("delay", "-s", sender, "-r", receiver, "--compare", "--capacity", "20m",
            "--max-delay", "50ms",
            "--interval", "100ms", "--export", "file:" + file).orFail();

        final String details =
            Command.of(Tools.require("tshark", "tshark"), "-n", "-r", file, "-V").run().orFail().output();
        assertTrue(details.contains("Selector Name: both rli adaptive, clock unknown"), "the segment");
        assertTrue(details.matches("(?s).*IfName: \\S*sender\\.pcap.*IfName: \\S*receiver\\.pcap.*"),
            "its points");
        assertTrue(details.split("Selector Name: joint joint full, health", -1).length > 5, "what came of each interval");
        assertTrue(details.split("Selector Name: matched", -1).length > 5, "what was matched in each interval");
        assertTrue(details.split("Selector Name: estimates", -1).length > 5, "an estimate of each interval");
        assertTrue(details.matches("(?s).*Selector Name: references.*Type 19: Value \\(hex bytes\\).*"), "lost references");
    }
}

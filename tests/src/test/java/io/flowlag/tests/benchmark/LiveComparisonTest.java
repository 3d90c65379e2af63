package io.flowlag.tests.benchmark;

import io.flowlag.tests.support.Checkout;
import io.flowlag.tests.support.NetworkNamespace;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A moment of {@code bin/benchmark live}: fewer packets than the ring of the kernel holds, and fewer under way than the backlog
 * of a processor, so that none can be lost.
 */
@Tag("topology")
@Tag("slow")
@Timeout(300)
class LiveComparisonTest {
    @Test
    void shouldMeterWhatTheSendersSend() throws IOException, InterruptedException {
        NetworkNamespace.assumeAvailable();
        final ByteArrayOutputStream out = new ByteArrayOutputStream();
        final int exitCode = LiveComparison.run(
            new String[] {"--seconds", "0.001", "--flows", "100", "--program", Checkout.root().resolve("bin/flowlag").toString(),
                "--capturers", "nobody,flowlag,flowlag-shared,flowlag-ebpf,tcpdump"},
            new PrintStream(out, true, StandardCharsets.UTF_8), System.err);
        final String table = out.toString(StandardCharsets.UTF_8);
        assertEquals(0, exitCode, table);
        final Matcher row = Pattern.compile(
            "flowlag(?:-ebpf)? +\\d+ +[0-9.]+ +(\\d+) +(\\d+) +0 +0 +\\d+ +(?:-?\\d+|-) +(?:-?\\d+|-) +[0-9.]+\n").matcher(table);
        int rows = 0;
        for (; row.find(); rows++) {
            assertTrue(Long.parseLong(row.group(1)) >= FrameSender.MOST_FRAMES, table);
            assertEquals(row.group(1), row.group(2), table);
            assertTrue(table.contains("\"packets\":" + row.group(1)), table);
        }
        assertEquals(Runtime.getRuntime().availableProcessors() > 1 ? 4 : 2, rows, table);
    }
}

package io.flowlag.tests.system;

import io.flowlag.tests.support.Captures;
import io.flowlag.tests.support.IpfixReader;
import io.flowlag.tests.support.Meter;
import io.flowlag.tests.support.SharedData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

/** The distribution of agents over threads does not change the records. */
class EqualRecordsTest {
    /** Element 148 and its octets. */
    private static final Pattern FLOW_ID = Pattern.compile("\\b0/148:[0-9a-f]{16} ");

    @TempDir
    private Path directory;

    @Test
    void shouldMakeEqualRecordsInEveryThreadingMode() throws IOException {
        final Path capture = directory.resolve("demo.pcap");
        Captures.writeDemo(capture);

        assertEqualRecords(capture);
    }

    @Test
    void shouldMakeEqualRecordsOfRealTrafficInEveryThreadingMode() throws IOException {
        assertEqualRecords(SharedData.capture("mix/mix_dev_70k_snap96.nsec.pcap"));
    }

    /** With short timeouts, so that flows end for every reason. */
    private void assertEqualRecords(final Path capture) throws IOException {
        final List<String> invoker = records(capture, "invoker");

        assertFalse(invoker.isEmpty());
        assertEquals(invoker, records(capture, "shared"));
        assertEquals(invoker, records(capture, "pipelined"));
        assertEquals(withoutFlowIds(invoker), withoutFlowIds(records(capture, "sharded")));
    }

    /** Flow ids are unique in every mode, but which flow has which differs. */
    private static List<String> withoutFlowIds(final List<String> records) {
        return records.stream().map((each) -> FLOW_ID.matcher(each).replaceFirst("")).sorted().toList();
    }

    private List<String> records(final Path capture, final String threading) throws IOException {
        final Path output = Files.createDirectory(directory.resolve(threading));
        final Meter.Outcome outcome = new Meter(output)
            .option("--threading", threading).option("--active", "3s").option("--idle", "1s").run(capture);
        outcome.result().orFail();
        outcome.stats().orFailUnlessAccounted();
        final IpfixReader reader = IpfixReader.of(outcome.ipfixFile());
        reader.reception().orFail();
        return reader.records().stream().sorted().toList();
    }
}

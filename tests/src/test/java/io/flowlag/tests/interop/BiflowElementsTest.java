package io.flowlag.tests.interop;

import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.SharedData;
import io.flowlag.tests.support.Tools;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Biflows of a real capture, as tshark and our own collector read them: no packet is missing, none twice. */
@Tag("interop")
class BiflowElementsTest {
    @TempDir
    private Path directory;

    private Path meter(final String biflow) {
        final Path records = directory.resolve(biflow + ".ipfix");
        new Flowlag().inThisJvm().run("meter", SharedData.capture("ipv6/nDPI__reddit.pcap"), "--set",
            "metering.biflow=" + biflow, "--options", "off", "--export", "file:" + records).orFail();
        return records;
    }

    /** Every value of a field, in the order of records. */
    private static List<Long> values(final Path records, final String field) {
        return Command.of(Tools.require("tshark", "tshark"), "-n", "-r", records, "-T", "fields", "-E", "occurrence=a",
            "-e", field).run().orFail().output().lines().flatMap((line) -> Stream.of(line.split(",")))
            .filter((each) -> !each.isBlank()).map(Long::valueOf).toList();
    }

    private static long rows(final Path records) {
        return new Flowlag().inThisJvm().run("collect", "-q", "-r", records).orFail().output().lines()
            .filter((line) -> !line.startsWith("src ")).count();
    }

    @Test
    void shouldHaveEachDirectionOnce() {
        final Path biflows = meter("on");
        final Path uniflows = meter("off");
        final List<Long> packets = values(biflows, "cflow.packets");
        final List<Long> all = values(uniflows, "cflow.packets");
        assertEquals(sum(all), sum(packets));
        final int joined = values(biflows, "cflow.biflow_direction").size();
        assertTrue(joined > all.size() / 4, joined + " of " + all.size());
        assertEquals(packets.size(), rows(biflows), "a row for each direction");
    }

    private static long sum(final List<Long> values) {
        return values.stream().mapToLong(Long::longValue).sum();
    }
}

package io.flowlag.tests.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.exporter.lab.TrafficProfile;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.tests.support.Captures;
import io.flowlag.tests.support.Flow;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.Nfcapd;
import io.flowlag.tests.support.Stats;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** nfcapd multiplies by what the options record says of sampling. */
@Tag("interop")
class SamplingTest {
    private static final int ONE_IN = 10;
    /** Of a number by chance, at most. */
    private static final int DEVIATIONS = 6;

    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldHaveNfcapdMultiplySampledPackets(final boolean isRandom) throws IOException {
        final Path capture = directory.resolve("demo.pcap");
        Captures.writeDemo(capture);
        final Path statistics = directory.resolve("stats.json");
        try (Nfcapd nfcapd = new Nfcapd(Files.createDirectory(directory.resolve("nfcapd")))) {
            new Flowlag().inThisJvm().run("meter", "-r", capture, "--set", "metering.sample-packets=" + ONE_IN,
                "--set", "metering.sample-random=" + (isRandom ? "on" : "off"), "--stats", statistics,
                "--export", "udp://127.0.0.1:" + nfcapd.port()).orFail();
            final Stats stats = Stats.read(statistics).orFailUnlessAccounted();
            final int packets = TrafficProfile.demo().packetCount();
            assertEquals((double)packets / ONE_IN, stats.counter(CounterId.METERED),
                isRandom ? DEVIATIONS * Math.sqrt((double)packets / ONE_IN) : 1);
            assertEquals(packets, stats.counter(CounterId.METERED) + stats.counter(CounterId.NOT_SAMPLED));
            assertEquals(ONE_IN * stats.counter(CounterId.METERED),
                nfcapd.finish().flows().stream().mapToLong(Flow::packets).sum());
        }
    }

    /** Our collector does, with a bound; whole conversations are not multiplied. */
    @Test
    void shouldEstimateWhatSampledPacketsStandFor() throws IOException {
        final Path capture = directory.resolve("demo.pcap");
        Captures.writeDemo(capture);
        final Path statistics = directory.resolve("stats.json");
        final JsonNode all = new ObjectMapper().readTree(new Flowlag().inThisJvm().run("meter", "-r", capture,
            "--set", "metering.sample-packets=" + ONE_IN, "--set", "metering.sample-random=on", "--group-by", "proto",
            "--protocol", "udp", "--format", "json", "--stats", statistics).orFail().output());
        assertEquals(ONE_IN * all.get("packetDeltaCount").asLong(), all.get("_estimatedPackets").asLong());
        assertTrue(all.get("_estimatedPacketsError").asLong() > 0);

        final JsonNode some = new ObjectMapper().readTree(new Flowlag().inThisJvm().run("meter", "-r", capture,
            "--set", "metering.sample-flows=4", "--group-by", "proto", "--protocol", "udp", "--format", "json",
            "--stats", statistics).orFail().output());
        final Stats stats = Stats.read(statistics).orFailUnlessAccounted();
        assertTrue(stats.counter(CounterId.NOT_SAMPLED) > 0);
        assertEquals(TrafficProfile.demo().packetCount(),
            stats.counter(CounterId.METERED) + stats.counter(CounterId.NOT_SAMPLED));
        assertFalse(some.has("_estimatedPackets"), some::toString);
    }
}

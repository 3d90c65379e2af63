package io.flowlag.tests.interop;

import io.flowlag.exporter.lab.TrafficProfile;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.tests.support.Captures;
import io.flowlag.tests.support.Flow;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.Nfcapd;
import io.flowlag.tests.support.Stats;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.junit.jupiter.api.Assertions.assertEquals;

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
}

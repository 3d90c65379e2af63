package io.flowlag.tests.system;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.reference.OffloadState;
import io.flowlag.exporter.runtime.run.Offloads;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.RouterTopology;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.time.Duration;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Offloads of a router's interfaces, which the system made with all of them on, before, during and after a run. */
@Tag("topology")
class OffloadsTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final long CHECK_NS = 5_000_000_000L;

    private RouterTopology topology;
    private List<OffloadState> before;

    @BeforeEach
    void build() throws Exception {
        NetworkNamespace.assumeAvailable();
        topology = RouterTopology.create();
        before = states();
        assertTrue(before.stream().allMatch(OffloadState::isOn), before::toString);
    }

    @AfterEach
    void tearDown() throws IOException {
        if (topology != null) {
            topology.close();
        }
    }

    private List<OffloadState> states() throws Exception {
        return topology.router().call(
            () -> List.of(OffloadState.of(RouterTopology.INGRESS), OffloadState.of(RouterTopology.EGRESS)));
    }

    private Command command(final Object... arguments) {
        return new Flowlag().under("ip", "netns", "exec", topology.router().name()).command(arguments).timeout(TIMEOUT);
    }

    @Test
    void shouldBeOffWhileItRuns() throws Exception {
        try (Command.Running run = command("run", "--router", RouterTopology.INGRESS + "," + RouterTopology.EGRESS).start()) {
            Flowlag.awaitMetering(run);
            assertTrue(states().stream().noneMatch(OffloadState::isOn), run::errors);
            final Command.Result ended = run.stop().orFail();
            assertTrue(ended.errors().contains(before.get(0).line(true)), ended::toString);
        }
        assertEquals(before, states());
    }

    @Test
    void shouldBeSwitchedOffWhenTheyComeOn() throws Exception {
        final ExporterConfig config = new ConfigLoader().text("test.yaml",
            "segment: {ingress: " + RouterTopology.INGRESS + ", egress: " + RouterTopology.EGRESS + "}\n").conclude();
        topology.router().call(() -> {
            try (Offloads held = new Offloads(config, 0)) {
                assertEquals("", before.get(1).turn(true));
                held.keepHouse(CHECK_NS - 1);
                assertEquals(before.get(1), OffloadState.of(RouterTopology.EGRESS));
                held.keepHouse(CHECK_NS);
                assertFalse(OffloadState.of(RouterTopology.EGRESS).isOn());
            }
            return null;
        });
        assertEquals(before, states());
    }

    @Test
    void shouldBeRefusedWithTheLineThatHelps() throws Exception {
        final Command.Result result = command("run", "--ingress", RouterTopology.INGRESS, "--egress",
            RouterTopology.EGRESS, "--set", "segment.offload=refuse").run();
        assertEquals(78, result.exitCode(), result::toString);
        assertEquals(1, result.errorLines().size(), result::toString);
        final String line = result.errorLines().get(0);
        final int begin = line.indexOf("ethtool -K in0 ");
        final int end = line.indexOf(", or set segment.offload to allow");
        assertTrue(begin > 0 && end > begin && line.contains("ethtool -K out0 "), line);

        for (final String remedy : line.substring(begin, end).split(" && ")) {
            topology.router().exec(remedy.split(" "));
        }
        assertTrue(states().stream().noneMatch(OffloadState::isOn));
    }
}

package io.flowlag.exporter.decode;

import io.flowlag.exporter.status.CounterId;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Every real capture of the shared data, decoded, against the flows that tshark found in it. */
class SharedCapturesDecodeTest {
    @TestFactory
    Stream<DynamicTest> shouldFindTheFlowsOfEveryCapture() {
        return SharedData.manifest().stream().map(row -> DynamicTest.dynamicTest(row.get("file"), () -> check(row)));
    }

    private static void check(final Map<String, String> row) {
        final Path capture = SharedData.capture(row.get("file"));
        final DecodedFlows decoded = DecodedFlows.of(capture, new PacketDecoder.Context().fragmentPorts(false));
        final long captured = decoded.counters.get(CounterId.CAPTURED);
        assertEquals(captured, decoded.counters.get(CounterId.DECODED) + decoded.counters.refused());
        if ("skip-or-other-linktype".equals(row.get("expect"))) {
            assertEquals(captured, decoded.counters.refused(), "every packet is refused");
        }
        if ("agree".equals(row.get("trust"))) {
            assertEquals("", difference(SharedData.flows(capture), decoded.flows));
        }
    }

    /** One line for each flow on which the two differ. */
    private static String difference(final Map<String, String> truth, final Map<String, String> decoded) {
        final StringBuilder lines = new StringBuilder();
        final Map<String, String> all = new TreeMap<>(truth);
        all.putAll(decoded);
        all.keySet().stream().filter(key -> !decoded.getOrDefault(key, "").equals(truth.get(key))).limit(20).forEach(
            key -> lines.append(key).append(": ").append(truth.get(key)).append(" but decoded ")
                .append(decoded.get(key)).append('\n'));
        return lines.toString();
    }
}

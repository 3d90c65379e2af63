package io.flowlag.exporter.config;

import io.flowlag.exporter.runtime.MemoryPlan;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class MemoryFitTest {
    private static final int BOUNDS = 10;
    private static final long LEAST_MIB = 400;
    private static final long MOST_MIB = 16 << 10;
    /** Sizes that follow the memory. */
    private static final List<ConfigKey<Long>> SIZES = List.of(ConfigTable.MAX_FLOWS, ConfigTable.RING, ConfigTable.PACKET_RING,
        ConfigTable.RECORD_RING, ConfigTable.LDS_COLUMNS, ConfigTable.LDS_IN_FLIGHT, ConfigTable.LDS_WAITING,
        ConfigTable.JOINT_FLOWS, ConfigTable.JOINT_PENDING, ConfigTable.RECONCILE_PACKETS, ConfigTable.RECONCILE_CELLS,
        ConfigTable.QUANTILES_MEMORY, ConfigTable.EXACT_PACKETS, ConfigTable.REFERENCE_BUFFER, ConfigTable.EXCHANGE_MEMORY);

    private static ExporterConfig config(final long mebibytes, final String yaml) {
        return new ConfigLoader().text("f", "memory: " + mebibytes + "m\n" + yaml.replace(';', '\n')).conclude(MemoryPlan::parts);
    }

    /** Random bounds, in rising order: no part is negative, the sum is within the bound, and no size falls. */
    @ParameterizedTest
    @ValueSource(strings = {
        "capture.interfaces: [a]",
        "capture.interfaces: [a, b];threading: sharded;pipeline.shards: 3",
        "capture.interfaces: [a];segment.role: receiver;exchange.listen: 9000",
        "capture.interfaces: [a];segment.role: receiver;exchange.listen: 9000;rli.policy: passive;joint.enabled: off",
        "capture.interfaces: [a];segment.role: sender;exchange.connect: localhost:9000;rli.target: 192.0.2.1",
        "segment: {ingress: a, egress: b}",
        "segment: {ingress: a, egress: b};lds.enabled: on;rli.target: 192.0.2.1;metering.max-flows: 20000",
        "segments: {auto: [a, b, c]}"})
    void shouldStayWithinTheBoundAndRiseWithIt(final String yaml) {
        final long[] before = new long[SIZES.size()];
        long beforeMib = 0;
        for (final long mebibytes : new Random(28).longs(BOUNDS, LEAST_MIB, MOST_MIB).map((each) ->
            LEAST_MIB + (each - LEAST_MIB) * (each - LEAST_MIB) / (MOST_MIB - LEAST_MIB)).sorted().toArray()) {
            final ExporterConfig config = config(mebibytes, yaml);
            final Memory memory = Memory.of(config);
            assertEquals(mebibytes << 20, memory.bytes());
            assertTrue(memory.parts().stream().allMatch((each) -> each.bytes() >= 0), memory::toString);
            assertTrue(memory.takenBytes() <= memory.bytes(), memory::toString);
            assertTrue(memory.sketchesBytes() >= 0, memory::toString);
            assertEquals(memory.bytes(), memory.bounds().stream().mapToLong(Memory.Part::bytes).sum());
            final ExporterConfig segment = config.segments().get(0);
            for (int i = 0; i < before.length; i++) {
                final Object value = segment.effectiveValue(SIZES.get(i)).value();
                final long size = value == null ? 0 : (Long)value;
                assertTrue(size >= before[i], SIZES.get(i) + "=" + size + " with " + mebibytes + " MiB, " + before[i] + " with " +
                    beforeMib);
                before[i] = size;
            }
            beforeMib = mebibytes;
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "300|capture.interfaces: [a];segment.role: receiver;exchange.listen: 9000;lds.columns: 1m|lds.columns=1m: takes ",
        "300|capture.interfaces: [a];metering.max-flows: 4m|metering.max-flows=4m: takes ",
        "300|capture.interfaces: [a, b];capture.ring: 512m|capture.ring=512m: takes 1008 MiB, and memory=300m leaves 90 MiB",
        "300|segment: {ingress: a, egress: b, exact-packets: 8m}|segment.exact-packets=8m: takes ",
        "128|capture.interfaces: [a]|memory=128m: is less than the least of all parts: set memory to "})
    void shouldRefuseWhatDoesNotFit(final long mebibytes, final String yaml, final String fault) {
        final String message =
            assertThrows(ConfigurationException.class, () -> config(mebibytes, yaml)).getMessage();
        assertTrue(message.contains(fault), message);
        final String needed = message.replaceAll("(?s).*set memory to ([0-9]+)m or more.*", "$1");
        assertEquals(Long.parseLong(needed) << 20, Memory.of(config(Long.parseLong(needed), yaml)).bytes());
        assertThrows(ConfigurationException.class, () -> config(Long.parseLong(needed) - 2, yaml));
    }

    /** What ran before with large tables runs without the key. */
    @Test
    void shouldAddGivenSizesToTheDefault() {
        final String yaml = "memory: auto\ncapture: {interfaces: [a, b]";
        final long bytes = Memory.of(new ConfigLoader().text("f", yaml + "}").conclude(MemoryPlan::parts)).bytes();
        final ExporterConfig larger = new ConfigLoader().text("f", yaml + ", ring: 128m}").conclude(MemoryPlan::parts);
        assertEquals(bytes + (128L << 20), Memory.of(larger).bytes());
        assertEquals(Memory.of(larger).bytes(), larger.effectiveValue(ConfigTable.MEMORY).value());
    }

    /** A reload can change sketches; all other tables stay as they are, or it is refused. */
    @Test
    void shouldKeepSizesInUseOverAReload() {
        final String yaml = "capture.interfaces: [a];segment.role: receiver;exchange.listen: 9000;lds.columns: ";
        final ExporterConfig used = config(512, yaml + "512");
        final ExporterConfig newer = reloaded(512, yaml + "600", used);
        assertEquals(600, newer.lds().shape().columns());
        assertEquals(List.of("lds.columns"), newer.effectiveValues().stream().filter((each) -> !Objects.equals(
            each.value(), used.effectiveValue(ConfigTable.key(each.path())).value())).map(EffectiveValue::path).toList());
        final String message =
            assertThrows(ConfigurationException.class, () -> reloaded(512, yaml + "1m", used)).getMessage();
        assertTrue(message.contains("memory=512m: a reload keeps sizes, and with the new ones they take "), message);
    }

    private static ExporterConfig reloaded(final long mebibytes, final String yaml, final ExporterConfig used) {
        return new ConfigLoader().text("f", "memory: " + mebibytes + "m\n" + yaml.replace(';', '\n'))
            .conclude(MemoryPlan::parts, used);
    }

    @ParameterizedTest
    @ValueSource(longs = {340, 512})
    void shouldTakeGivenSizesFirstAndSayWhatTheOthersFollow(final long mebibytes) {
        final ExporterConfig config =
            config(mebibytes, "capture.interfaces: [a];segment.role: receiver;exchange.listen: 9000;lds.columns: 4k");
        assertEquals(4096, config.lds().shape().columns());
        final EffectiveValue flows = config.effectiveValue(ConfigTable.MAX_FLOWS);
        assertEquals("from memory=" + mebibytes + "m, else 128k", flows.note());
        assertEquals(Integer.toString(config.metering().maxFlows()), flows.text());
        assertTrue(config.isDefault(ConfigTable.MAX_FLOWS));
        assertTrue(ConfigReference.effectiveLines(config).stream().anyMatch((each) -> Stream.of("metering.max-flows:",
            "(from memory=").allMatch(each::contains)));
    }
}

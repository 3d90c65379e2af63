package io.flowlag.exporter.config;

import io.flowlag.exporter.config.ExporterConfig.Points;
import io.flowlag.exporter.config.ExporterConfig.Segment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class LocalSegmentsTest {
    private static ExporterConfig config(final String yaml) {
        return new ConfigLoader().text("f", yaml.replace(';', '\n')).conclude();
    }

    private static List<String> errors(final String yaml) {
        return assertThrows(ConfigurationException.class, () -> config(yaml), yaml).errors();
    }

    @Test
    void shouldMakeASegmentOfEachOrderedPair() {
        final ExporterConfig config = config("segments: {auto: [eth0, eth1, eth2], max-delay: 50ms}");
        final List<Segment> segments = config.pairs().segments();
        assertEquals(List.of(1002L, 1003L, 2001L, 2003L, 3001L, 3002L), segments.stream().map(Segment::id).toList());
        assertEquals(new Points("eth0", "eth1"), segments.get(0).points());
        assertEquals(new Points("eth2", "eth1"), segments.get(5).points());
        assertEquals(List.of("eth0", "eth1", "eth2"), config.pairs().interfaces());
        assertFalse(config.pairs().areSelected());
        assertEquals(50_000_000, config.segment().maximumDelayNs());
        assertTrue(config.segment().exact());
        final List<String> paths = config.effectiveValues().stream().map(EffectiveValue::path).toList();
        assertTrue(paths.containsAll(List.of("segments", "segments[1002].ingress", "segments[3002].egress")), paths::toString);
        assertFalse(paths.contains("segment.id"));
    }

    @Test
    void shouldKeepTheNumbersOfPairsWhenAnInterfaceIsAdded() {
        final List<Long> before = config("segments: {auto: [a, b]}").pairs().segments().stream().map(Segment::id).toList();
        final List<Long> after = config("segments: {auto: [a, b, c]}").pairs().segments().stream().map(Segment::id).toList();
        assertTrue(after.containsAll(before));
    }

    @Test
    void shouldTakeAListWithSelectors() {
        final ExporterConfig config = config("segments:;- {ingress: a, egress: b, id: 7, destination: [10.1.0.0/16]};" +
            "- {ingress: a, egress: c, id: 8, destination: [10.2.0.0/16]};");
        assertTrue(config.pairs().areSelected());
        assertTrue(config.segment().selector().selectsAll(), "the stage has packets of all segments");
        assertEquals(List.of(7L, 8L), config.pairs().segments().stream().map(Segment::id).toList());
    }

    @Test
    void shouldJoinPairsWithSegmentsToOtherProcesses() {
        final ExporterConfig config = config("segments: [{role: receiver, id: 7, interval: 2s}, {auto: [a, b]}, " +
            "{role: sender, id: 8, rli: {target: h, session: 2}}];capture: {interfaces: [b, c]}");
        assertEquals(List.of("segments[1002].", "segments[7].", "segments[8]."),
            config.segments().stream().map(ExporterConfig::name).toList());
        assertEquals(List.of(1002L, 2001L), config.pairs().segments().stream().map(Segment::id).toList());
        assertEquals(List.of(2, 0, 0), config.segments().stream().map((each) -> each.pairs().segments().size()).toList());
        config.segments().forEach((each) -> assertEquals(List.of("a", "b", "c"), each.capture().interfaces()));
        final List<String> paths = config.effectiveValues().stream().map(EffectiveValue::path).toList();
        assertTrue(paths.containsAll(List.of("segments", "segments[1002].ingress", "segments[7].segment.interval",
            "segments[1002].segment.max-delay", "segments[8].rli.target")), paths::toString);
        assertEquals(paths.size(), paths.stream().distinct().count(), paths::toString);
    }

    @Test
    void shouldAskForARestartWhenSegmentsChange() {
        final ExporterConfig two = config("segments: {auto: [a, b]}");
        assertEquals(List.of(), two.restartKeys(config("segments: {auto: [a, b]};log: {level: debug}")));
        assertEquals("segments", two.restartKeys(config("segments: {auto: [a, b, c]}")).get(0));
        assertEquals("segments", config("segments: {auto: [a, b, c]}").restartKeys(two).get(0));
        assertEquals("segments", two.restartKeys(config("segments: {auto: [a, c]}")).get(0));
        final String list = "segments:;- {ingress: a, egress: b, id: 7, source: [10.1.0.0/16]};- {ingress: b, egress: a, id: 8};";
        assertEquals(List.of(), config(list).restartKeys(config(list.replace("10.1.", "10.3."))));
        assertEquals("segments", config(list).restartKeys(config(list.replace("id: 8", "id: 9"))).get(0));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "segments: {auto: [eth0]} | f:1:12: segments.auto: is a list of two or more different interfaces",
        "segments: {auto: eth0} | segments.auto: is a list of two or more",
        "segments: {auto: [eth0, eth0]} | segments.auto: is a list of two or more",
        "segments: {auto: [eth0, [eth1]]} | segments.auto: is a list of two or more",
        "segments: {auto: [a, b], id: 5} | f:1:30: segment.id=5: segments.auto gives each segment one",
        "segments: {auto: [a, b], ingress: c} | segment.ingress=c: segments.auto gives",
        "segments: {auto: [a, b], rol: both} | segment.rol: unknown key",
        "segments: {auto: [a, b], lds: {enabled: on}} | lds.enabled=on: cannot be with several segments",
        "segments: {auto: [a, b]};rli: {target: 192.0.2.1} | rli.target=192.0.2.1: cannot be with several segments",
        "segments: {auto: [a, b]};rli: {policy: passive} | rli.policy=passive: cannot be with several segments",
        "segments: {auto: [a, b], exact: off} | segment.exact=off",
        "segments: {auto: [a, b]};capture: {source: pcap} | capture.source=pcap: cannot be with several segments",
        "segments: {auto: [a, b]};capture: {interfaces: [c]} | capture.interfaces",
        "segments: {auto: [a, b]};segment: {max-delay: 5ms} | segment.max-delay=5ms: stands next to the list segments",
        "segments: [{ingress: a, egress: b, max-delay: 5ms}, {ingress: b, egress: a, id: 2}] | f:1:53: " +
            "segment.max-delay=200ms: is one for all segments between interfaces of one host, and the first has 5ms",
        "segments: [{ingress: a, egress: b}, {ingress: a, egress: c, id: 2}, {ingress: c, egress: a, id: 3, vlan: 5}] | " +
            "segments 1 and 2 begin at a and select the same packets",
        "segments: [{ingress: a, egress: b}, {role: receiver, id: 2}];capture: {direction: in} | f:1:12: capture.direction: ",
        "segments: [{ingress: a, egress: b, id: 2}, {role: receiver, id: 2}] | segment.id=2"})
    void shouldRefuseWhatOneProcessCannotMeasure(final String yaml, final String error) {
        final List<String> errors = errors(yaml);
        assertTrue(String.join("\n", errors).contains(error), errors::toString);
    }

    @Test
    void shouldRefuseTooManySegments() {
        final StringBuilder names = new StringBuilder("eth0");
        for (int i = 1; i < 17; i++) {
            names.append(", eth").append(i);
        }
        assertEquals(List.of("f:1:12: segments: has 272 segments between 17 interfaces: at most 250 segments, 128 interfaces, " +
            "and 256 classes (rli.classes) of all interfaces can be"), errors("segments: {auto: [" + names + "]}"));
    }
}

package io.flowlag.exporter.config;

import io.flowlag.common.config.Prefix;
import io.flowlag.exporter.config.WeightRule.PortRange;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class WeightRuleTest {
    @Test
    void shouldReadEveryCondition() {
        final WeightRule rule = WeightRule.parse(
            " src=10.1.0.0/16  dst=192.0.2.7 sport=1,5-9 dport=443 proto=TCP,udp,132 dscp=ef,cs5,af41,3 weight=25 ");

        assertEquals(new Prefix(false, 0, 0x0A01_0000L, 16), rule.source());
        assertEquals(new Prefix(false, 0, 0xC000_0207L, 32), rule.destination());
        assertEquals(List.of(new PortRange(1, 1), new PortRange(5, 9)), rule.sourcePorts());
        assertEquals(List.of(new PortRange(443, 443)), rule.destinationPorts());
        assertEquals(List.of(), rule.ports());
        assertEquals(List.of(6, 17, 132), rule.protocols());
        assertEquals(List.of(3, 34, 40, 46), rule.codePoints());
        assertEquals(25, rule.weight());
        assertFalse(rule.matchesAll());
    }

    @Test
    void shouldReadIpv6AndPortsOfEitherSide() {
        final WeightRule rule = WeightRule.parse("dst=2001:db8::/32 port=53 weight=10000");

        assertEquals(new Prefix(true, 0x2001_0db8_0000_0000L, 0, 32), rule.destination());
        assertEquals(new Prefix(true, 0, 1, 128), WeightRule.parse("src=::1 weight=2").source());
        assertEquals(List.of(new PortRange(53, 53)), rule.ports());
        assertTrue(WeightRule.parse("weight=3").matchesAll());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        dst=10.1.0.0/16                 | has no weight: add such as weight=100
        weight=0                        | weight=0: must be a number, 1 to 10000
        weight=10001                    | weight=10001: must be a number, 1 to 10000
        weight=1.5                      | weight=1.5: must be a number, 1 to 10000
        weight=                         | 'weight=' is no condition: write such as dst=10.1.0.0/16
        10.1.0.0/16 weight=2            | '10.1.0.0/16' is no condition: write such as dst=10.1.0.0/16
        wieght=2                        | 'wieght' is unknown: use src, dst, sport, dport, port, proto, dscp and weight; did
        weight=2 weight=3               | 'weight' is there twice: leave one out
        src=10.1.0.300/16 weight=2      | src=10.1.0.300/16 is no prefix: write such as src=10.1.0.0/16 or src=2001:db8::/32
        src=host.example weight=2       | src=host.example is no prefix: write such as src=10.1.0.0/16
        src=fe80::1%lo weight=2         | src=fe80::1%lo is no prefix
        src=::ffff:10.0.0.1 weight=2    | src=::ffff:10.0.0.1 is no prefix
        src=10.1.0.0/33 weight=2        | src prefix length=33: must be a number, 0 to 32
        src=10.1.0.0/16/2 weight=2      | src=10.1.0.0/16/2 is no prefix
        dst=10.1.0.1/16 weight=2        | dst=10.1.0.1/16 has bits set after the first 16: clear them, or write a longer prefix
        src=10.0.0.0/8 dst=::/0 weight=2 | src and dst are of different IP versions, so no packet matches: make two rules
        port=53 dport=53 weight=2       | port means either port, so it does not go with sport or dport: leave one out
        dport=70000 weight=2            | dport=70000: must be a number, 0 to 65535
        dport=9-5 weight=2              | dport=9-5: 9-5 is empty: write 5-9
        dport=1-2-3 weight=2            | dport=1-2-3: '1-2-3' is no range: write such as 8000-8100
        dport=80, weight=2              | dport=: must be a number, 0 to 65535
        proto=tpc weight=2              | proto=tpc: 'tpc' is unknown: write such as proto=tcp,udp,132; did you mean
        proto=256 weight=2              | proto=256: must be a number, 0 to 255
        dscp=64 weight=2                | dscp=64: must be a number, 0 to 63
        dscp=gold weight=2              | dscp=gold: 'gold' is unknown: write such as dscp=ef,cs5,46
        """)
    void shouldNameTheWordAndTheWayOut(final String text, final String wanted) {
        final IllegalArgumentException refusal =
            assertThrows(IllegalArgumentException.class, () -> WeightRule.parse(text));
        assertTrue(refusal.getMessage().startsWith(wanted), refusal.getMessage());
    }

    @Property
    void shouldRefuseOrReadAnyText(@ForAll final String text) {
        try {
            assertTrue(WeightRule.parse(text).weight() >= 1);
        } catch (final IllegalArgumentException ex) {
            assertFalse(ex.getMessage().isEmpty());
        }
    }
}

package io.flowlag.exporter.config;

import io.flowlag.common.config.BadValueException;
import io.flowlag.common.config.Prefix;
import io.flowlag.exporter.config.ExporterConfig.Policy;
import io.flowlag.exporter.config.ExporterConfig.Role;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class DelayRelationsTest {
    private static ExporterConfig config(final String yaml) {
        return new ConfigLoader().text("f", yaml.replace(';', '\n')).conclude();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "segment: {role: both, ingress: a}                                          | segment.egress",
        "segment: {ingress: a}                                                      | segment.ingress",
        "segment: {ingress: a, egress: a}                                           | different interfaces",
        "segment: {ingress: a, egress: b};capture: {interfaces: [c]}                | capture.interfaces",
        "segment: {role: sender}                                                    | rli.target",
        "segment: {role: receiver, exact: on}                                       | role both",
        "segment: {role: both, ingress: a, egress: b, exact: off}                   | rli.target",
        "rli: {policy: adaptive}                                                    | rli.capacity",
        "rli: {serialisation: capacity}                                             | rli.capacity",
        "segment: {role: sender};rli: {target: h, serialisation: fitted}            | of several sizes",
        "rli: {min-utilization: 0.9}                                                | rli.min-utilization",
        "rli: {min-utilization: 1.1}                                                | share",
        "rli: {min-rate: 5}                                                         | rli.min-rate",
        "rli: {ceiling: 8k}                                                         | rli.max-gap",
        "segment: {role: receiver};capture: {snap-length: 221};rli: {key-file: k}   | authenticated",
        "segment: {role: receiver};capture: {snap-length: 221};rli: {senders: ['5@192.0.2.1?key-file=k']} | authenticated",
        "rli: {ceiling: 15k, key-file: k, target: 192.0.2.1}                        | 15520 bits/s",
        "rli: {ceiling: 17k, key-file: k, target: '2001:db8::1'}                    | 17120 bits/s",
        "rli: {ceiling: 10k, target: router.example.net}                            | 10080 bits/s",
        "rli: {silent-after: 10ms}                                                  | rli.silent-after",
        "rli: {session: 65535, classes: [0, 46]}                                    | session",
        "rli: {classes: [64]}                                                       | 0 to 63",
        "lds: {enabled: on}                                                         | segment.role both",
        "lds: {rates: [1, 0.5]}                                                     | lds.rows 4",
        "lds: {rates: [1, 1, 1, 0]}                                                 | below 0.000001",
        "lds: {columns: 16, vlda: 17}                                               | lds.vlda",
        "lds: {rows: 16, columns: 4m}                                               | lds.columns",
        "lds: {rows: 16, vlda: 64};joint: {max-flows: 2m}                           | joint.max-flows",
        "lds: {lda-cells: 17}                                                       | even",
        "lds: {weights: [proto=tcp]}                                                | weight",
        "segment: {ingress: a, egress: b, interval: 100ms};lds: {enabled: on}       | segment.max-delay",
        "rli: {senders: [1@10.0.0.1, 2@10.0.0.2]}                                   | needs ?source",
        "rli: {senders: ['1@::1?source=10.0.0.0/8','2@::2?source=10.1.0.0/16']}      | in common",
        "rli: {classes: [0, 46], senders: ['1@::1?source=::/1','2@::2?source=8::/1']} | overlap",
        "rli: {senders: [65536@10.0.0.1]}                                           | 1 to 65535",
        "rli: {senders: [10.0.0.1]}                                                 | SESSION@ADDRESS",
        "rli: {senders: ['1@10.0.0.1?key=x']}                                       | key-file=PATH",
        "segment: {role: sender};rli: {target: h, senders: [1@10.0.0.1]}            | role receiver",
        "segment: {role: receiver};rli: {policy: passive}                           | needs exchange.listen",
        "segment: {ingress: a, egress: b};rli: {policy: passive, target: h}         | sends no references",
        "segment: {ingress: a, egress: b};rli: {policy: passive, passive-share: 0}  | rli.passive-share",
        "segment: {role: sender};exchange: {connect: '192.0.2.1:1'}                 | give exchange.key-file or exchange.tls",
        "segment: {role: receiver};lds: {enabled: on};exchange: {listen: '[::]:1'}  | is not on loopback",
        "segment: {role: sender};rli: {policy: passive};exchange: {connect: 'h:1'}  | by the receiver's word",
        "segment: {role: sender};exchange: {connect: 'h:1', mode: flows}            | the receiver decides",
        "segment: {role: sender};exchange: {connect: 'h:1', bandwidth: 1m}          | the receiver decides",
        "segment: {role: receiver};capture: {snap-length: 173}                      | f:2:24: capture.snap-length=173: too short",
        "rli: {key-file: /etc/passwd};segment: {role: receiver};capture: {snap-length: 221} | set 222 or more",
        "segment: {ingress: a, egress: b};capture: {hardware-timestamps: on}        | f:2:32: capture.hardware-timestamps=on",
        "segment: {role: both}                               | [f:1:17: segment.role=both: needs segment.ingress: name",
        "segment: {role: sender}                             | [f:1:17: segment.role=sender: needs rli.target",
        "segment: {role: receiver};exchange: {listen: 5555, tls: {key: /a}} | exchange.tls.trust=none: is needed too",
        "segment: {role: receiver};exchange: {listen: 5555, tls: {peers: [a.b]}} | exchange.tls.key=none: is needed too",
        "exchange: {tls: {peers: [a.b]}}                     | exchange.tls.peers=[a.b]: needs exchange.listen or",
        "clock: {error: 1us, file: /a}                                               | clock.file tells it anew",
        "clock: {correct: on}                                                       | needs exchange.listen",
        "clock: {reflector: 'h:862'}                                                | needs exchange.listen",
        "segment: {role: receiver};exchange: {listen: '127.0.0.1:1'};clock: {correct: on};capture: {hardware-timestamps: on} " +
            "| cards",
        "segment: {source: [host.example]}                                          | prefix",
        "segment: {source: [10.0.0.0/33]}                                           | 0 to 32"})
    void shouldRefuseWhatContradictsItself(final String yaml, final String expected) {
        final ConfigurationException refusal = assertThrows(ConfigurationException.class, () -> config(yaml));
        assertTrue(refusal.errors().toString().contains(expected), refusal.errors()::toString);
    }

    @Test
    void shouldBeBothPointsWhenBothInterfacesAreGiven() {
        final ExporterConfig config = config("segment: {ingress: a, egress: b}");
        assertEquals(Role.BOTH, config.segment().role());
        assertTrue(config.segment().exact());
        assertTrue(config.decode().digest());
    }

    @Test
    void shouldMatchEveryPacketOfBothPointsBesideReferencesUnlessToldOtherwise() {
        assertTrue(config("segment: {ingress: a, egress: b};rli: {target: 192.0.2.1}").segment().exact());
        assertTrue(config("segment: {ingress: a, egress: b};rli: {policy: passive}").segment().exact());
        assertFalse(config("segment: {ingress: a, egress: b, exact: off};rli: {target: 192.0.2.1}").segment().exact());
        assertFalse(config("segment: {ingress: a, egress: b, exact: off};rli: {policy: passive}").segment().exact());
        assertFalse(config("segment: {role: sender};rli: {target: 192.0.2.1}").segment().exact());
    }

    @Test
    void shouldEndNoFlowBeforeItIsKnownWhichOfItsPacketsWereLost() {
        assertEquals(1_700_000_000L, config("segment: {ingress: a, egress: b}").metering().tcpEndTimeoutNs());
        assertEquals(2_500_000_000L, config("segment: {ingress: a, egress: b, max-delay: 1s}").metering().tcpEndTimeoutNs());
        assertEquals(1_200_000_000L, config(
            "segment: {ingress: a, egress: b};metering: {idle-timeout: 1200ms}").metering().tcpEndTimeoutNs());
        assertEquals(500_000_000L, config(
            "segment: {ingress: a, egress: b};metering: {tcp-end-timeout: 500ms}").metering().tcpEndTimeoutNs());
        assertEquals(1_000_000_000L, config("").metering().tcpEndTimeoutNs());
    }

    @Test
    void shouldGiveWayToAPolicyThatNeedsNoCapacity() {
        assertEquals(Policy.EVERY_N, config("").rli().injection().policy());
        assertEquals(Policy.ADAPTIVE, config("rli: {capacity: 1g}").rli().injection().policy());
    }

    @Test
    void shouldMeasureByAnExchangeWithoutBeingToldTo() {
        final ExporterConfig receiver = config("segment: {role: receiver};exchange: {listen: 5555}");
        assertTrue(receiver.lds().enabled() && receiver.reconcile().enabled());
        assertEquals(ExporterConfig.ExchangeMode.AUTO, receiver.exchange().mode());
        assertTrue(config("segment: {role: sender};exchange: {connect: 'h:1'}").reconcile().enabled());
        final ExporterConfig told =
            config("segment: {role: receiver};exchange: {listen: 5555, mode: sketch};reconcile: {enabled: off}");
        assertEquals(ExporterConfig.ExchangeMode.SKETCH, told.exchange().mode());
        assertFalse(told.reconcile().enabled());
        final ExporterConfig alone = config("segment: {role: receiver}");
        assertFalse(alone.lds().enabled() || alone.reconcile().enabled());
        assertNull(alone.exchange().listen(), "without a key nobody is let in from elsewhere");
        assertEquals(2_500_000_000L, receiver.reconcile().waitNs());
        final ExporterConfig shorter = config("segment: {role: receiver, interval: 600ms};exchange: {listen: 5555}");
        assertTrue(shorter.reconcile().enabled());
        assertEquals(400_000_000L, shorter.reconcile().waitNs(), "six intervals, without max-delay and the deadline");
        assertFalse(config("segment: {role: receiver, interval: 540ms};exchange: {listen: 5555}").reconcile().enabled(),
            "intervals too short to wait for answers, and nobody asked for it");
    }

    /** 40 % of 8 Mbit/s are 400 000 octets a second: 18 181 cells of 22 octets. */
    @Test
    void shouldMakeSketchesThatFitTheBandwidthThatWasGiven() {
        final String receiver = "segment: {role: receiver};exchange: {listen: 5555";
        assertEquals(4545, config(receiver + ", bandwidth: 8m}").lds().shape().columns());
        assertEquals(9090, config("lds: {rows: 2};" + receiver + ", bandwidth: 8m}").lds().shape().columns());
        assertEquals(64, config(receiver + ", bandwidth: 8k}").lds().shape().columns());
        assertEquals(1, config(receiver + ", bandwidth: 8m}").lds().shape().vldaLength(), "lost packets leave the cells");
        assertEquals(4, config("reconcile: {enabled: off};" + receiver + ", bandwidth: 8m}").lds().shape().vldaLength());
        assertEquals(4, config(receiver + "}").lds().shape().vldaLength());
        assertEquals(16_384, config(receiver + ", bandwidth: 100m}").lds().shape().columns());
        assertEquals(16_384, config(receiver + "}").lds().shape().columns());
        assertEquals(5000, config("lds: {columns: 5000};" + receiver + ", bandwidth: 8m}").lds().shape().columns());
    }

    @Test
    void shouldTakeAsManyPassiveReferencesAsAPartOfTheBandwidthPaysFor() {
        final String receiver = "segment: {role: receiver};exchange: {listen: 5555, bandwidth: 8m};rli: {policy: passive";
        assertEquals(150_000, config(receiver + "}").rli().passivePpm());
        assertEquals(2_400_000, config(receiver + "}").rli().injection().ceilingBps());
        assertEquals(250_000, config(receiver + "}").rli().bufferPackets(), "37 500 of them, 15 % of the packets, in a second");
        assertEquals(65_536, config(receiver + ", ceiling: 100k}").rli().bufferPackets());
        assertEquals(70_000, config(receiver + ", buffer: 70000}").rli().bufferPackets());
        assertEquals(1136, config(receiver + "}").lds().shape().columns(), "sketches leave room for them");
        assertEquals(4545, config(receiver + ", passive-share: 0.02}").lds().shape().columns());
        assertEquals(20_000, config(receiver + ", passive-share: 0.02}").rli().passivePpm());
        assertEquals(0, config(receiver + ", passive-share: 0.02}").rli().injection().ceilingBps(),
            "the share is what was asked for");
        assertEquals(150_000, config(receiver + ", ceiling: 1m}").rli().passivePpm());
        assertEquals(1_000_000, config(receiver + ", ceiling: 1m}").rli().injection().ceilingBps());
        assertEquals(3_000_000, config(
            "segment: {role: receiver};exchange: {listen: 5555};rli: {policy: passive}").rli().injection().ceilingBps());
        assertEquals(10_000, config("segment: {ingress: a, egress: b};rli: {policy: passive}").rli().passivePpm());
    }

    @Test
    void shouldSolveTheFlowsThatAnIntervalMayHave() {
        assertEquals(65_536, config("").joint().maxFlows());
        assertEquals(262_144, config("metering: {max-flows: 1m}").joint().maxFlows());
        assertEquals(1000, config("metering: {max-flows: 1m};joint: {max-flows: 1000}").joint().maxFlows());
    }

    @Test
    void shouldTakeAShareOfTheCapacityAsCeiling() {
        assertEquals(1_000_000, config("").rli().injection().ceilingBps(), "without a capacity");
        assertEquals(31_911_588, config("rli: {capacity: 3191158800}").rli().injection().ceilingBps());
        assertEquals(100_000_000, config("rli: {capacity: 10g}").rli().injection().ceilingBps());
        assertEquals(250_000, config("rli: {capacity: 10m, ceiling: 2.5%}").rli().injection().ceilingBps());
        assertEquals(250_000, config("rli: {capacity: 10m, ceiling: 0.025}").rli().injection().ceilingBps());
        assertEquals(3_000_000, config("rli: {capacity: 10m, ceiling: 3000000}").rli().injection().ceilingBps());
        assertEquals(8_480, config("rli: {capacity: 100k}").rli().injection().ceilingBps(), "what rli.max-gap needs");
    }

    @Test
    void shouldSendAReferenceEachTenMillisecondsWhereTheLinkAffordsIt() {
        assertEquals(10_000_000, config("").rli().injection().maximumGapNs());
        assertEquals(10_000_000, config("rli: {capacity: 1g}").rli().injection().maximumGapNs());
        assertEquals(34_000_000, config("rli: {capacity: 10m}").rli().injection().maximumGapNs(), "848 bits in 25 kbit/s");
        assertEquals(100_000_000, config("rli: {capacity: 1m}").rli().injection().maximumGapNs());
        assertEquals(68_000_000, config("rli: {capacity: 10m, classes: [0, 46]}").rli().injection().maximumGapNs());
        assertEquals(50_000_000, config("rli: {capacity: 1g, max-gap: 50ms}").rli().injection().maximumGapNs());
    }

    @Test
    void shouldTakeOverAnotherSmoothing() {
        assertEquals(0.02, config("").rli().injection().smoothing());
        assertEquals(0.1, config("rli: {smoothing: 0.1}").rli().injection().smoothing());
        assertEquals(List.of(), config("").restartKeys(config("rli: {smoothing: 0.1}")));
    }

    @Test
    void shouldReloadPoliciesAndCeilingsButNoPortOrDelay() {
        final ExporterConfig old = config("");
        assertEquals(List.of(), old.restartKeys(config(
            "rli: {capacity: 1g, policy: adaptive, every-n: 5, every-interval: 2ms, min-utilization: 0.5, max-utilization: " +
            "0.9, min-rate: 200, max-rate: 5, max-gap: 50ms, ceiling: 2m}")));
        assertEquals(List.of("segment.max-delay", "rli.port"),
            old.restartKeys(config("segment: {max-delay: 1s};rli: {port: 9000}")));
        assertEquals(List.of("rli.policy"), old.restartKeys(config("rli: {policy: passive}")));
        assertEquals(List.of("rli.policy"), config("rli: {policy: passive}").restartKeys(old));
    }

    @Test
    void shouldTellWhatLiesInAPrefix() throws BadValueException {
        assertTrue(Prefix.parse("10.1.0.0/16").contains(false, 0, 0x0A01FFFFL));
        assertFalse(Prefix.parse("10.1.0.0/16").contains(false, 0, 0x0A020000L));
        assertTrue(Prefix.parse("0.0.0.0/0").contains(false, 0, 0xFFFF_FFFFL));
        assertFalse(Prefix.parse("0.0.0.0/0").contains(true, 0, 0));
        assertTrue(Prefix.parse("2001:db8::/32").contains(true, 0x20010DB8_FFFFFFFFL, -1));
        assertFalse(Prefix.parse("2001:db8::1").contains(true, 0x20010DB8_00000000L, 2));
        assertTrue(Prefix.parse("2001:db8::/126").contains(true, 0x20010DB8_00000000L, 3));
        assertFalse(Prefix.parse("2001:db8::/126").contains(true, 0x20010DB8_00000000L, 4));
    }

    /** What matching may remember live goes by the memory there is, unless somebody says it. */
    @ParameterizedTest
    @CsvSource({"33554432, 65536", "536870912, 1048576", "4294967296, 8388608", "274877906944, 16777216"})
    void shouldTakeAQuarterOfTheMemoryForPacketsUnderWay(final long memoryBytes, final long packets) {
        assertEquals(packets, DelayRelations.automaticPackets(memoryBytes));
        final ExporterConfig automatic = config("segment: {ingress: a, egress: b}");
        assertEquals(DelayRelations.automaticPackets(Memory.of(automatic).bytes()), automatic.segment().exactPackets());
        assertTrue(automatic.isDefault(ConfigTable.EXACT_PACKETS));
        assertEquals(2048, config("segment: {ingress: a, egress: b, exact-packets: 2k}").segment().exactPackets());
        assertEquals(1 << 20, config("segment: {role: none}").segment().exactPackets());
    }
}

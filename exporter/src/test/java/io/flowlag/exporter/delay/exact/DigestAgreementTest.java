package io.flowlag.exporter.delay.exact;

import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.exact.DigestAgreement.Verdict;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class DigestAgreementTest {
    private static final int PACKETS = 200;
    private static final int ALL = Integer.MAX_VALUE;
    private static final long OTHER_DIGEST = 1L << 40;
    private static final Consumer<UnsafeBuffer> UNCHANGED = packet -> {
    };

    private final Packets packets = new Packets();
    private final SegmentFlows flows = new SegmentFlows(1_000, SegmentFlows.NEVER_NS);
    private final ExactMatcher matcher =
        new ExactMatcher(new ExactMatcherSettingsBuilder().maxPackets(10_000).build(), flows, MatchHandler.NONE);
    private final DigestAgreement agreement =
        new DigestAgreement(matcher.counters(), DigestAgreement.DEFAULT_MINIMUM_PACKETS);
    private long nowNs = 1_000_000_000;

    private void send(final long digest, final Consumer<UnsafeBuffer> change) {
        final UnsafeBuffer packet = packets.packet(1, digest, nowNs);
        change.accept(packet);
        matcher.onSent(packet, 0);
    }

    private void receive(final int flow, final long digest, final Consumer<UnsafeBuffer> change) {
        final UnsafeBuffer packet = packets.packet(flow, digest, nowNs + 1_000);
        change.accept(packet);
        matcher.onReceived(packet, 0);
    }

    /** All packets have had their time. */
    private Verdict judge() {
        nowNs += 1_000_000_000;
        matcher.onTime(nowNs, ALL);
        return agreement.judge();
    }

    private List<DisagreementCause> causes() {
        assertEquals(Verdict.DISAGREES, judge());
        return agreement.causes();
    }

    @Test
    void shouldAgreeWhenHalfMatch() {
        for (int i = 0; i < PACKETS; i++) {
            send(i, UNCHANGED);
            receive(1, i % 2 == 0 ? i : OTHER_DIGEST + i, UNCHANGED);
        }
        assertEquals(Verdict.AGREES, judge());
        assertEquals(0.5, agreement.share());
        assertEquals("", agreement.message());
        assertEquals(List.of(), agreement.causes());
    }

    @Test
    void shouldNotJudgeTooFewPackets() {
        for (int i = 0; i < DigestAgreement.DEFAULT_MINIMUM_PACKETS - 1; i++) {
            send(i, UNCHANGED);
        }
        assertEquals(Verdict.TOO_FEW, judge());
        send(-1, UNCHANGED);
        assertEquals(Verdict.DISAGREES, judge());
        assertEquals(Verdict.TOO_FEW, judge(), "a new window");
    }

    @Test
    void shouldJudgeEachWindowByItself() {
        for (int i = 0; i < PACKETS; i++) {
            send(i, UNCHANGED);
            receive(1, i, UNCHANGED);
        }
        assertEquals(Verdict.AGREES, judge());
        for (int i = 0; i < PACKETS; i++) {
            send(i, UNCHANGED);
        }
        assertEquals(Verdict.DISAGREES, judge());
        assertEquals(0, agreement.share());
        assertEquals(PACKETS, agreement.decidedPackets());
    }

    @Test
    void shouldSayThatAPointSeesNothing() {
        for (int i = 0; i < PACKETS; i++) {
            send(i, UNCHANGED);
        }
        assertEquals(List.of(DisagreementCause.NOTHING_RECEIVED), causes());
        for (int i = 0; i < PACKETS; i++) {
            receive(1, i, UNCHANGED);
        }
        assertEquals(List.of(DisagreementCause.NOTHING_SENT), causes());
        assertTrue(agreement.message().startsWith("none of 200 received packets was sent: "), agreement.message());
    }

    @Test
    void shouldSuspectTheKeyWhenFlowsAreTheSameAndNoDigestIs() {
        for (int i = 0; i < PACKETS; i++) {
            send(i, UNCHANGED);
            receive(1, OTHER_DIGEST + i, UNCHANGED);
        }
        assertEquals(List.of(DisagreementCause.KEY, DisagreementCause.PROXY), causes());
        assertTrue(agreement.message().startsWith("0 of 200 sent packets were received (0.0 %): "), agreement.message());
    }

    @Test
    void shouldSuspectAddressTranslationWhenFlowsAreNotTheSame() {
        for (int i = 0; i < PACKETS; i++) {
            send(i, UNCHANGED);
            receive(2, OTHER_DIGEST + i, UNCHANGED);
        }
        assertEquals(List.of(
            DisagreementCause.NAT, DisagreementCause.TUNNEL, DisagreementCause.PROXY, DisagreementCause.DIFFERENT_TRAFFIC),
            causes());
    }

    @Test
    void shouldNotCallTrafficForThisHostADisagreement() {
        final SegmentFlows unselected = new SegmentFlows(1_000, SegmentFlows.NEVER_NS, false);
        final ExactMatcher other = new ExactMatcher(
            new ExactMatcherSettingsBuilder().maxPackets(10_000).build(), unselected, MatchHandler.NONE);
        final DigestAgreement both = new DigestAgreement(other.counters(), DigestAgreement.DEFAULT_MINIMUM_PACKETS);
        for (int i = 0; i < PACKETS; i++) {
            other.onSent(packets.packet(1, i, nowNs), 0);
            other.onReceived(packets.packet(1, i, nowNs + 1_000), 0);
            other.onSent(packets.packet(2, OTHER_DIGEST + 3L * i, nowNs), 0);
            other.onSent(packets.packet(2, OTHER_DIGEST + 3L * i + 1, nowNs), 0);
            other.onSent(packets.packet(2, OTHER_DIGEST + 3L * i + 2, nowNs), 0);
        }
        other.onTime(nowNs + 1_000_000_000, ALL);
        assertEquals(Verdict.AGREES, both.judge());

        for (int i = 0; i < PACKETS; i++) {
            other.onSent(packets.packet(3, 5_000 + i, nowNs + 2_000_000_000L), 0);
            other.onReceived(packets.packet(4, 2 * OTHER_DIGEST + i, nowNs + 2_000_000_000L), 0);
        }
        other.onTime(nowNs + 4_000_000_000L, ALL);
        assertEquals(Verdict.DISAGREES, both.judge());
        assertTrue(both.causes().contains(DisagreementCause.NAT), both::message);
    }

    @Test
    void shouldTellLossFromChange() {
        for (int i = 0; i < PACKETS; i++) {
            send(i, UNCHANGED);
            if (i % 4 == 0) {
                receive(1, i, UNCHANGED);
            }
        }
        assertEquals(List.of(DisagreementCause.LOSS), causes());
        assertEquals(0.25, agreement.share());
    }

    @Test
    void shouldTellFragmentationFromItsTraces() {
        for (int i = 0; i < PACKETS; i++) {
            send(i, UNCHANGED);
            receive(1, OTHER_DIGEST + i, packet -> PacketDescriptor.flags(
                packet, 0, PacketDescriptor.FLAG_DIGEST | PacketDescriptor.FLAG_FRAGMENT));
        }
        assertEquals(List.of(DisagreementCause.FRAGMENTATION), causes());
    }

    @Test
    void shouldTellOffloadFromItsTraces() {
        for (int i = 0; i < PACKETS; i++) {
            send(i, packet -> PacketDescriptor.ipLengthBytes(packet, 0, 30_000));
            for (int part = 0; part < 20; part++) {
                receive(1, OTHER_DIGEST + 20L * i + part, UNCHANGED);
            }
        }
        assertEquals(List.of(DisagreementCause.OFFLOAD), causes());
    }

    @Test
    void shouldTellATunnelFromItsTraces() {
        for (int i = 0; i < PACKETS; i++) {
            send(i, UNCHANGED);
            receive(2, OTHER_DIGEST + i, packet -> PacketDescriptor.protocol(packet, 0, 47));
        }
        assertEquals(List.of(DisagreementCause.TUNNEL), causes());
    }

    @Test
    void shouldTellCutPacketsFromTheirTraces() {
        for (int i = 0; i < PACKETS; i++) {
            send(i, UNCHANGED);
            receive(1, 0, packet -> PacketDescriptor.flags(packet, 0, PacketDescriptor.FLAG_DIGEST_SHORT));
        }
        assertEquals(List.of(DisagreementCause.SNAP_LENGTH), causes());
        for (int i = 0; i < PACKETS; i++) {
            send(0, packet -> PacketDescriptor.flags(packet, 0, PacketDescriptor.FLAG_DIGEST_SHORT));
            receive(1, i, UNCHANGED);
        }
        assertEquals(List.of(DisagreementCause.SNAP_LENGTH), causes());
    }

    @Test
    void shouldTellClocksApartFromOtherPackets() {
        for (int i = 0; i < PACKETS; i++) {
            send(i, UNCHANGED);
        }
        nowNs += 37_000_000_000L;
        matcher.onTime(nowNs, ALL);
        for (int i = 0; i < PACKETS; i++) {
            receive(1, i, UNCHANGED);
        }
        assertEquals(List.of(DisagreementCause.TIME), causes());
        assertTrue(agreement.message().contains("37.000001 s"), agreement.message());
    }

    @Test
    void shouldSayEachCauseInOnePhrase() {
        for (final DisagreementCause cause : DisagreementCause.values()) {
            assertFalse(cause.sentence().isBlank() || cause.sentence().endsWith("."), cause.name());
            assertFalse(cause.sentence().contains("\n"), cause.name());
        }
        for (final MatchCounter counter : MatchCounter.values()) {
            assertEquals("match_" + counter.name().toLowerCase(Locale.ROOT), counter.label());
            assertTrue(counter.sentence().endsWith("."), counter.label());
            assertTrue(List.of("packets", "flows").contains(counter.unit()));
        }
    }

    @Test
    void shouldRefuseAWindowOfNoPackets() {
        assertThrows(IllegalArgumentException.class, () -> new DigestAgreement(matcher.counters(), 0));
    }
}

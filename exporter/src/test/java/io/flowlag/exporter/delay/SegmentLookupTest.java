package io.flowlag.exporter.delay;

import com.sun.management.ThreadMXBean;
import io.flowlag.common.config.Prefix;
import io.flowlag.exporter.config.ExporterConfig.Selector;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.SegmentLookup.Selection;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SegmentLookupTest {
    private static final int POINTS = 3;
    private static final int PACKETS = 300;
    private static final int NO_VLAN = -1;

    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);

    /** A way by which a packet is of a segment, with what makes it win. */
    private record Match(int segment, int destinationBits, int sourceBits, boolean hasVlan) {
        private static final Comparator<Match> ORDER = Comparator.comparingInt(Match::destinationBits)
            .thenComparingInt(Match::sourceBits).thenComparing(Match::hasVlan);
    }

    private void packet(final Prefix source, final Prefix destination, final int vlanId) {
        PacketDescriptor.ipVersion(descriptor, 0, source.isIpv6() ? 6 : 4);
        PacketDescriptor.sourceHigh(descriptor, 0, source.high());
        PacketDescriptor.sourceLow(descriptor, 0, source.low());
        PacketDescriptor.destinationHigh(descriptor, 0, destination.high());
        PacketDescriptor.destinationLow(descriptor, 0, destination.low());
        PacketDescriptor.vlanId(descriptor, 0, Math.max(0, vlanId));
        PacketDescriptor.flags(descriptor, 0, vlanId < 0 ? 0 : PacketDescriptor.FLAG_VLAN);
    }

    /** Few bits vary, so that prefixes nest and addresses hit them. */
    private static Prefix prefix(final Random random, final boolean isAddress) {
        final boolean isIpv6 = random.nextInt(3) == 0;
        final long bits = random.nextInt(8);
        if (isIpv6) {
            final int[] lengths = {0, 16, 33, 62, 64, 65, 66, 127, 128};
            return new Prefix(true, 0x2001_0000_0000_0000L | bits, bits << 62 | random.nextInt(4),
                isAddress ? 128 : lengths[random.nextInt(lengths.length)]);
        }
        final int[] lengths = {0, 5, 8, 9, 10, 30, 31, 32};
        return new Prefix(false, 0, 10 + (bits & 1) << 24 | random.nextInt(4) << 22 | random.nextInt(4),
            isAddress ? 32 : lengths[random.nextInt(lengths.length)]);
    }

    private static List<Prefix> prefixes(final Random random) {
        return IntStream.range(0, random.nextInt(4)).mapToObj((i) -> prefix(random, false)).toList();
    }

    /** A lookup of some random segments; those that select the same packets as an earlier one are left out. */
    private static SegmentLookup lookup(final Random random, final int count, final List<Selection> selections) {
        SegmentLookup lookup = new SegmentLookup(POINTS, selections);
        for (int i = 0; i < count; i++) {
            final Selection added = new Selection(i, random.nextInt(POINTS + 1) - 1, random.nextInt(POINTS + 1) - 1,
                new Selector(prefixes(random), prefixes(random), random.nextInt(3) == 0 ? random.nextInt(3) * 2047 : NO_VLAN));
            final boolean isClashing = selections.stream().anyMatch((each) -> clash(each, added));
            selections.add(added);
            try {
                lookup = new SegmentLookup(POINTS, selections);
                assertEquals(false, isClashing, () -> "not refused: " + selections);
            } catch (final IllegalArgumentException ex) {
                assertTrue(isClashing, () -> ex.getMessage() + ": " + selections);
                selections.remove(added);
            }
        }
        return lookup;
    }

    private static boolean clash(final Selection one, final Selection other) {
        final boolean isAtOnePoint = one.senderPoint() >= 0 && one.senderPoint() == other.senderPoint() ||
            one.receiverPoint() >= 0 && one.receiverPoint() == other.receiverPoint();
        return isAtOnePoint && one.selector().vlanId() == other.selector().vlanId() &&
            IntStream.of(4, 6).anyMatch((version) ->
                share(one.selector().sources(), other.selector().sources(), version == 6) &&
                    share(one.selector().destinations(), other.selector().destinations(), version == 6));
    }

    private static boolean share(final List<Prefix> some, final List<Prefix> others, final boolean isIpv6) {
        return orAll(some, isIpv6).stream().anyMatch((each) -> each.isIpv6() == isIpv6 &&
            orAll(others, isIpv6).stream().anyMatch((other) -> other.lengthBits() == each.lengthBits() && other.overlaps(each)));
    }

    private static List<Prefix> orAll(final List<Prefix> some, final boolean isIpv6) {
        return some.isEmpty() ? List.of(new Prefix(isIpv6, 0, 0, 0)) : some;
    }

    /** The naive scan. */
    private static int expected(final List<Selection> selections, final int point, final boolean isReceiver,
        final List<Prefix> addresses, final int vlanId) {
        final List<Match> matches = new ArrayList<>();
        final boolean isIpv6 = addresses.get(0).isIpv6();
        for (final Selection each : selections) {
            final int vlan = each.selector().vlanId();
            if ((isReceiver ? each.receiverPoint() : each.senderPoint()) != point || vlan >= 0 && vlan != vlanId) {
                continue;
            }
            for (final Prefix destination : orAll(each.selector().destinations(), isIpv6)) {
                for (final Prefix source : orAll(each.selector().sources(), isIpv6)) {
                    if (source.contains(isIpv6, addresses.get(0).high(), addresses.get(0).low()) &&
                        destination.contains(isIpv6, addresses.get(1).high(), addresses.get(1).low())) {
                        matches.add(new Match(each.segment(), destination.lengthBits(), source.lengthBits(), vlan >= 0));
                    }
                }
            }
        }
        return matches.stream().max(Match.ORDER).map(Match::segment).orElse(SegmentLookup.NONE);
    }

    @Property(tries = 300)
    void shouldFindWhatANaiveScanFinds(@ForAll final long seed, @ForAll @IntRange(max = 12) final int count) {
        final Random random = new Random(seed);
        final List<Selection> selections = new ArrayList<>();
        final SegmentLookup lookup = lookup(random, count, selections);
        for (int i = 0; i < PACKETS; i++) {
            final Prefix source = prefix(random, true);
            final Prefix some = prefix(random, true);
            final Prefix destination = some.isIpv6() == source.isIpv6() ? some : source;
            final int vlanId = random.nextBoolean() ? NO_VLAN : random.nextInt(3) * 2047;
            packet(source, destination, vlanId);
            final int point = random.nextInt(POINTS);
            final int found = lookup.of(point, descriptor, 0);
            final List<Prefix> addresses = List.of(source, destination);
            assertEquals(expected(selections, point, false, addresses, vlanId), SegmentLookup.sender(found),
                () -> addresses + " as sender, VLAN " + vlanId + " of " + selections);
            assertEquals(expected(selections, point, true, addresses, vlanId), SegmentLookup.receiver(found),
                () -> addresses + " as receiver, VLAN " + vlanId + " of " + selections);
        }
    }

    @Property(tries = 20)
    void shouldFindTheSameInAnyOrderOfSegments(@ForAll final long seed) {
        final Random random = new Random(seed);
        final List<Selection> selections = new ArrayList<>();
        final SegmentLookup lookup = lookup(random, 8, selections);
        final List<Selection> shuffled = new ArrayList<>(selections);
        Collections.shuffle(shuffled, random);
        final SegmentLookup other = new SegmentLookup(POINTS, shuffled);
        for (int i = 0; i < PACKETS; i++) {
            final Prefix source = prefix(random, true);
            packet(source, source, NO_VLAN);
            final int point = i % POINTS;
            assertEquals(lookup.of(point, descriptor, 0), other.of(point, descriptor, 0));
        }
        assertEquals(lookup.memoryBytes(), other.memoryBytes());
    }

    /** Segments of one pair of prefixes each, of as many lengths as possible. */
    private static List<Selection> pairs(final int count) {
        final Random random = new Random(count);
        return IntStream.range(0, count).mapToObj((i) -> {
            final boolean isIpv6 = i % 2 == 1;
            final int bits = isIpv6 ? 20 + random.nextInt(109) : 16 + random.nextInt(17);
            final Prefix pair = new Prefix(isIpv6, isIpv6 ? (long)i << 48 : 0, (long)i << 16, bits);
            return new Selection(i, 0, 1, new Selector(List.of(pair), List.of(pair), NO_VLAN));
        }).toList();
    }

    @Test
    void shouldHaveTheMostSegmentsAndTheirMemoryByFormula() {
        assertTrue(new SegmentLookup(1, List.of()).memoryBytes() <= 4 * 260 * 2, "nothing");
        for (final int count : new int[] {1, 16, 256, 2048}) {
            final List<Selection> selections = pairs(count);
            final SegmentLookup lookup = new SegmentLookup(2, selections);
            final long perVersion = (count + 1) / 2;
            final long ofClasses = 256 * (perVersion * 6 + perVersion * 8 + 2);
            final long atMost = 2 * (2 * ofClasses + 2 * 4 * (perVersion + 1) * (perVersion + 1));
            assertTrue(lookup.memoryBytes() <= atMost, () -> count + ": " + lookup.memoryBytes() + " > " + atMost);
            for (final Selection each : selections) {
                final Prefix pair = each.selector().sources().get(0);
                packet(pair, pair, NO_VLAN);
                assertEquals(each.segment(), SegmentLookup.sender(lookup.of(0, descriptor, 0)));
                assertEquals(SegmentLookup.NONE, SegmentLookup.receiver(lookup.of(0, descriptor, 0)));
                assertEquals(each.segment(), SegmentLookup.receiver(lookup.of(1, descriptor, 0)));
            }
        }
        final List<Prefix> single = List.of(Prefix.of("10.0.0.0/8"));
        final Selection last = new Selection(SegmentLookup.MAX_SEGMENTS - 1, 0, 0, new Selector(single, single, NO_VLAN));
        packet(single.get(0), single.get(0), NO_VLAN);
        final int found = new SegmentLookup(1, List.of(last)).of(0, descriptor, 0);
        assertEquals(List.of(last.segment(), last.segment()),
            List.of(SegmentLookup.sender(found), SegmentLookup.receiver(found)));
    }

    /** A segment of many prefixes costs no more cells than one of few, and is made in short time. */
    @Test
    void shouldMergePrefixesThatAreAlike() {
        final List<Prefix> many = IntStream.range(0, 4000).mapToObj((i) -> Prefix.of("10." + i / 256 + "." + i % 256 + ".0/24"))
            .toList();
        final SegmentLookup lookup = new SegmentLookup(1, List.of(new Selection(0, 0, -1, new Selector(many, many, NO_VLAN))));
        assertTrue(lookup.memoryBytes() <= 2 * (4000 * 256 + 256) + 4 * (2 * 2 + 1), () -> lookup.memoryBytes() + " octets");
        packet(Prefix.of("10.3.4.5"), Prefix.of("10.14.200.1"), NO_VLAN);
        assertEquals(0, SegmentLookup.sender(lookup.of(0, descriptor, 0)));
    }

    @Test
    void shouldRefuseSegmentsThatNoPacketTellsApart() {
        final Selector selector = new Selector(List.of(Prefix.of("10.0.0.0/8")), List.of(), NO_VLAN);
        final Selector same = new Selector(List.of(Prefix.of("10.1.2.3/8"), Prefix.of("::1")), List.of(), NO_VLAN);
        final String fault = assertThrows(IllegalArgumentException.class, () -> new SegmentLookup(1, List.of(
            new Selection(0, 0, -1, selector), new Selection(1, 0, -1, same)))).getMessage();
        assertEquals("segment 1 and another select the same packets at one point in one role", fault);
        new SegmentLookup(2, List.of(new Selection(0, 0, 1, selector), new Selection(1, 1, 0, same)));
    }

    @Test
    void shouldAllocateNothingPerPacket() {
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        final List<Selection> selections = pairs(256);
        final SegmentLookup lookup = new SegmentLookup(2, selections);
        final long leastBytes = LongStream.range(0, 10).map((round) -> {
            final long beforeBytes = threads.getCurrentThreadAllocatedBytes();
            final long idleBytes = threads.getCurrentThreadAllocatedBytes() - beforeBytes;
            long sum = 0;
            for (int i = 0; i < 20_000; i++) {
                PacketDescriptor.sourceLow(descriptor, 0, (long)i << 16);
                sum += SegmentLookup.sender(lookup.of(i & 1, descriptor, 0));
            }
            assertTrue(sum < Long.MAX_VALUE);
            return threads.getCurrentThreadAllocatedBytes() - beforeBytes - 2 * idleBytes;
        }).min().getAsLong();
        assertEquals(0, leastBytes, "bytes allocated");
    }
}

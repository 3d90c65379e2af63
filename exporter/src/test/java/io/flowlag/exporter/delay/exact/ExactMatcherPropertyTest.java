package io.flowlag.exporter.delay.exact;

import io.flowlag.rli.counters.DelayCounters;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Exact matching of random traffic against the ground truth, and against a model with unlimited memory. */
class ExactMatcherPropertyTest {
    private static final long MAXIMUM_DELAY_NS = 100;
    private static final int LATENESS_NS = 60;
    private static final int FLOWS = 5;
    private static final int ALL = Integer.MAX_VALUE;
    private static final long NO_DELAY = Long.MIN_VALUE;

    private final Packets packets = new Packets();

    /** A packet at a point. */
    private record Sighting(boolean isSent, long digest, long timeNs) {
        int flow() {
            return (int)(digest % FLOWS);
        }
    }

    /** What became of packets. */
    private static final class Tally {
        private long matched;
        private long lost;
        private long unexpected;
        private long duplicates;
        private final List<Long> delaysNs = new ArrayList<>();

        private void match(final long delayNs) {
            matched++;
            delaysNs.add(delayNs);
        }

        @Override
        public String toString() {
            return "matched " + matched + " lost " + lost + " unexpected " + unexpected + " duplicates " + duplicates + " " +
                delaysNs;
        }
    }

    /** Plain lists, and the rules of docs/exact.md. */
    private static final class Model {
        private final long leadNs;
        private final long graceNs;
        private final Tally tally = new Tally();
        private final Map<Long, Queue<Remembered>> sent = new HashMap<>();
        private final Map<Long, Queue<Remembered>> received = new HashMap<>();
        private final Map<Long, Long> newestMatchedNs = new HashMap<>();
        private final Queue<Remembered> order = new ArrayDeque<>();

        /** A packet, and until when it keeps its place. */
        private static final class Remembered {
            private final Sighting sighting;
            private long dueNs;

            Remembered(final Sighting sighting) {
                this.sighting = sighting;
                dueNs = sighting.timeNs;
            }
        }

        Model(final long leadNs, final long graceNs) {
            this.leadNs = leadNs;
            this.graceNs = graceNs;
        }

        void on(final Sighting now) {
            final Queue<Remembered> here = queue(now.isSent ? sent : received, now.digest);
            final Queue<Remembered> there = queue(now.isSent ? received : sent, now.digest);
            final long patienceNs = now.isSent ? leadNs : MAXIMUM_DELAY_NS;
            while (!there.isEmpty() && now.timeNs - there.peek().sighting.timeNs > patienceNs) {
                decide(there.poll().sighting);
            }
            if (!there.isEmpty() && isWithin(delayNs(now, there.peek().sighting))) {
                final Remembered other = there.poll();
                final long delayNs = delayNs(now, other.sighting);
                other.dueNs = now.isSent ? Math.max(other.dueNs, now.timeNs) : other.dueNs;
                tally.match(delayNs);
                newestMatchedNs.merge(now.digest, now.isSent ? now.timeNs : now.timeNs - delayNs, Math::max);
            } else {
                final Remembered remembered = new Remembered(now);
                here.add(remembered);
                order.add(remembered);
            }
        }

        void onTime(final long nowNs) {
            while (!order.isEmpty() && nowNs - order.peek().dueNs > MAXIMUM_DELAY_NS + graceNs) {
                final Remembered oldest = order.poll();
                final Queue<Remembered> queue = queue(oldest.sighting.isSent ? sent : received, oldest.sighting.digest);
                if (queue.peek() == oldest) {
                    decide(queue.poll().sighting);
                }
            }
        }

        private boolean isWithin(final long delayNs) {
            return -leadNs <= delayNs && delayNs <= MAXIMUM_DELAY_NS;
        }

        private static long delayNs(final Sighting now, final Sighting waiting) {
            return now.isSent ? waiting.timeNs - now.timeNs : now.timeNs - waiting.timeNs;
        }

        private void decide(final Sighting sighting) {
            final Long newestNs = newestMatchedNs.get(sighting.digest);
            if (sighting.isSent) {
                tally.lost++;
            } else if (newestNs != null && newestNs >= sighting.timeNs - MAXIMUM_DELAY_NS) {
                tally.duplicates++;
            } else {
                tally.unexpected++;
            }
        }

        private static Queue<Remembered> queue(final Map<Long, Queue<Remembered>> queues, final long digest) {
            return queues.computeIfAbsent(digest, key -> new ArrayDeque<>());
        }
    }

    /** The matcher, which begins with little room, and the results that its handler received. */
    private final class Run {
        private final Tally tally = new Tally();
        private final SegmentFlows flows = new SegmentFlows(FLOWS, SegmentFlows.NEVER_NS);
        private final ExactMatcher matcher;

        Run(final int maxPackets, final long leadNs) {
            this(maxPackets, leadNs, 0);
        }

        Run(final int maxPackets, final long leadNs, final long graceNs) {
            matcher = new ExactMatcher(
                new ExactMatcherSettingsBuilder().maxPackets(maxPackets).maximumDelayNs(MAXIMUM_DELAY_NS).maximumLeadNs(leadNs)
                    .graceNs(graceNs).startPackets(1 + maxPackets % 7).build(),
                flows,
                new MatchHandler() {
                    @Override
                    public void onMatched(
                        final int flow, final long senderTag, final long tag, final long sentNs, final long receivedNs) {
                        tally.match(receivedNs - sentNs);
                        assertEquals(receivedNs, tag, "the tag comes back with its packet");
                    }

                    @Override
                    public void onLost(final int flow, final long sentNs) {
                        tally.lost++;
                    }

                    @Override
                    public void onUnexpected(final long tag, final long receivedNs) {
                        tally.unexpected++;
                        assertEquals(receivedNs, tag);
                    }

                    @Override
                    public void onDuplicate(final long tag, final long receivedNs) {
                        tally.duplicates++;
                        assertEquals(receivedNs, tag);
                    }
                });
        }

        void on(final Sighting sighting) {
            final var packet = packets.packet(sighting.flow(), sighting.digest, sighting.timeNs);
            matcher.touch(packet, 0, 1);
            final MatchResult result =
                sighting.isSent ? matcher.onSent(packet, 0) : matcher.onReceived(packet, 0, sighting.timeNs);
            if (result == MatchResult.MATCHED) {
                assertEquals(tally.delaysNs.get(tally.delaysNs.size() - 1), matcher.delayNs());
            }
            assertAccounted();
        }

        void end() {
            assertFalse(matcher.finish(Long.MAX_VALUE, ALL));
            assertAccounted();
            assertEquals(0, count(MatchCounter.SENT_WAITING) + count(MatchCounter.RECEIVED_WAITING));
            assertEquals(tally.matched, count(MatchCounter.MATCHED));
            assertEquals(tally.lost, count(MatchCounter.LOST));
            assertEquals(tally.unexpected, count(MatchCounter.UNEXPECTED));
            assertEquals(tally.duplicates, count(MatchCounter.DUPLICATES));
            long decided = 0;
            long sightings = 0;
            long sumNs = 0;
            for (int flow = 0; flow < flows.limit(); flow++) {
                final int offset = flows.delayOffset(flow);
                sightings += flows.sent(flow) + flows.received(flow);
                decided += flows.lost(flow) + flows.unexpected(flow) + flows.duplicates(flow) + flows.undecided(flow) +
                    2 * DelayCounters.count(flows.delayBuffer(), offset);
                sumNs += DelayCounters.sumNs(flows.delayBuffer(), offset);
                assertEquals(0, flows.waitingCount(flow));
            }
            assertEquals(count(MatchCounter.SENT) + count(MatchCounter.RECEIVED), sightings);
            assertEquals(sightings, decided);
            assertEquals(tally.delaysNs.stream().mapToLong(Long::longValue).sum(), sumNs);
        }

        long count(final MatchCounter counter) {
            return matcher.counters().get(counter);
        }

        private void assertAccounted() {
            assertEquals(0, matcher.counters().unexplainedSent());
            assertEquals(0, matcher.counters().unexplainedReceived());
        }
    }

    /** Unique packets with loss, copies, reordering, delays too long and too early; in the order of their times. */
    private static final class Traffic {
        private final List<Sighting> sightings = new ArrayList<>();
        private final Map<Long, List<Long>> copiesNs = new HashMap<>();
        private final Map<Long, Long> sentNs = new HashMap<>();

        Traffic(final Random random, final int count, final long leadNs) {
            long nowNs = 1_000_000;
            for (long digest = 1; digest <= count; digest++) {
                nowNs += random.nextInt(30);
                final List<Long> copies = new ArrayList<>();
                final int copyCount = List.of(0, 1, 1, 1, 1, 1, 2, 3).get(random.nextInt(8));
                for (int i = 0; i < copyCount; i++) {
                    copies.add(nowNs - leadNs - 10 + random.nextInt((int)(MAXIMUM_DELAY_NS + leadNs + 20)));
                }
                copiesNs.put(digest, copies);
                for (final long copyNs : copies) {
                    sightings.add(new Sighting(false, digest, copyNs));
                }
                if (random.nextInt(10) > 0) {
                    sentNs.put(digest, nowNs);
                    sightings.add(new Sighting(true, digest, nowNs));
                }
            }
            sightings.sort(Comparator.comparingLong(Sighting::timeNs));
        }

        /** The ground truth, packet by packet. */
        Tally truth(final long leadNs) {
            final Tally truth = new Tally();
            copiesNs.forEach((digest, copies) -> {
                copies.sort(null);
                final Long sent = sentNs.get(digest);
                final long delayNs = sent == null ? NO_DELAY : copies.stream().mapToLong(copyNs -> copyNs - sent)
                    .filter(delay -> -leadNs <= delay && delay <= MAXIMUM_DELAY_NS).findFirst().orElse(NO_DELAY);
                if (delayNs != NO_DELAY) {
                    truth.match(delayNs);
                    copies.remove(sent + delayNs);
                } else if (sent != null) {
                    truth.lost++;
                }
                final long duplicates = delayNs == NO_DELAY ? 0 :
                    copies.stream().filter(copyNs -> isCopy(copyNs - sent, leadNs)).count();
                truth.duplicates += duplicates;
                truth.unexpected += copies.size() - duplicates;
            });
            return truth;
        }

        /** A copy that came too early expired before its packet was sent and matched. */
        private static boolean isCopy(final long delayNs, final long leadNs) {
            return -leadNs <= delayNs && delayNs <= MAXIMUM_DELAY_NS;
        }
    }

    @Property(tries = 500, edgeCases = EdgeCasesMode.NONE)
    void shouldFindWhatIsTrueOfUniquePackets(
        @ForAll final long seed, @ForAll @IntRange(min = 1, max = 300) final int count,
        @ForAll @IntRange(min = 0, max = 100) final int leadNs) {
        final Traffic traffic = new Traffic(new Random(seed), count, leadNs);
        final Run run = new Run(4 * count, leadNs);
        for (final Sighting sighting : traffic.sightings) {
            run.on(sighting);
            run.matcher.onTime(sighting.timeNs, ALL);
        }
        run.end();

        final Tally truth = traffic.truth(leadNs);
        truth.delaysNs.sort(null);
        run.tally.delaysNs.sort(null);
        assertEquals(truth.toString(), run.tally.toString());
        assertEquals(truth.delaysNs.stream().filter(delayNs -> delayNs < 0).count(), run.count(MatchCounter.NEGATIVE));
        assertEquals(0, run.count(MatchCounter.TWINS));
    }

    @Property(tries = 500, edgeCases = EdgeCasesMode.NONE)
    void shouldNeverCallAPacketLostOrUnexpectedForLackOfRoom(
        @ForAll final long seed, @ForAll @IntRange(min = 1, max = 300) final int count,
        @ForAll @IntRange(min = 1, max = 20) final int maxPackets, @ForAll @IntRange(min = 0, max = 100) final int leadNs) {
        final Traffic traffic = new Traffic(new Random(seed), count, leadNs);
        final Run run = new Run(maxPackets, leadNs);
        for (final Sighting sighting : traffic.sightings) {
            run.on(sighting);
            run.matcher.onTime(sighting.timeNs, ALL);
        }
        run.end();

        final Tally truth = traffic.truth(leadNs);
        assertTrue(run.tally.lost <= truth.lost, () -> run.tally + " of " + truth);
        assertTrue(run.tally.unexpected <= truth.unexpected, () -> run.tally + " of " + truth);
        assertTrue(run.tally.matched <= truth.matched, () -> run.tally + " of " + truth);
    }

    /** Few digests, so that nearly every packet has twins, and points that are read alternately. */
    @Property(tries = 500, edgeCases = EdgeCasesMode.NONE)
    void shouldDoAsTheModelDoesWithTwins(
        @ForAll final long seed, @ForAll @IntRange(min = 1, max = 400) final int count,
        @ForAll @IntRange(min = 1, max = 12) final int digests, @ForAll @IntRange(min = 0, max = 100) final int leadNs) {
        final Random random = new Random(seed);
        final Run run = new Run(count, leadNs, LATENESS_NS);
        final Model model = new Model(leadNs, LATENESS_NS);
        long nowNs = 1_000_000;
        for (int i = 0; i < count; i++) {
            nowNs += random.nextInt(20);
            final long timeNs = nowNs - (random.nextBoolean() ? 0 : random.nextInt(LATENESS_NS));
            final Sighting sighting = new Sighting(random.nextBoolean(), 1 + random.nextInt(digests), timeNs);
            run.on(sighting);
            model.on(sighting);
            if (random.nextBoolean()) {
                run.matcher.onTime(nowNs, ALL);
                model.onTime(nowNs);
            }
            assertEquals(model.tally.toString(), run.tally.toString());
        }
        run.end();
        model.onTime(Long.MAX_VALUE / 2);

        assertEquals(model.tally.toString(), run.tally.toString());
    }

    /** Without copies, a queue that keeps the order keeps twins' delays exact. */
    @Property(tries = 200, edgeCases = EdgeCasesMode.NONE)
    void shouldMeasureTwinsExactlyThroughAQueue(
        @ForAll final long seed, @ForAll @IntRange(min = 1, max = 200) final int count,
        @ForAll @IntRange(min = 1, max = 3) final int digests) {
        final Random random = new Random(seed);
        final List<Sighting> sightings = new ArrayList<>();
        final List<Long> delaysNs = new ArrayList<>();
        long sentNs = 1_000_000;
        long receivedNs = 0;
        for (int i = 0; i < count; i++) {
            final long digest = 1 + random.nextInt(digests);
            sentNs += 1 + random.nextInt(10);
            receivedNs = Math.min(Math.max(receivedNs, sentNs) + random.nextInt(15), sentNs + MAXIMUM_DELAY_NS);
            sightings.add(new Sighting(true, digest, sentNs));
            sightings.add(new Sighting(false, digest, receivedNs));
            delaysNs.add(receivedNs - sentNs);
        }
        sightings.sort(Comparator.comparingLong(Sighting::timeNs));
        final Run run = new Run(2 * count, 0);
        for (final Sighting sighting : sightings) {
            run.on(sighting);
            run.matcher.onTime(sighting.timeNs, ALL);
        }
        run.end();

        assertEquals(delaysNs, run.tally.delaysNs);
        assertEquals(count, run.tally.matched);
    }
}

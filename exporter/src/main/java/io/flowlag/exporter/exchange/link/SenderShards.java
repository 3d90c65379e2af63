package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.decode.DigestSwitch;
import io.flowlag.exporter.delay.SenderLink;
import io.flowlag.exporter.delay.SketchAgreement;
import io.flowlag.exporter.delay.SketchShipment;
import io.flowlag.exporter.delay.interval.IntervalPoint;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import org.agrona.concurrent.OneToOneConcurrentArrayQueue;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The metering threads of a sender, one or several shards. Each has sketches of its own and ships its part of every interval; the
 * parts of all are added up here. An interval that a shard leaves out is left out as a whole, and the next one reports its drops.
 * <p>
 * Each shard's link is its metering thread's, everything else the exchange's; bounded queues join them. Allocates at construction
 * and for each agreement and interval.
 */
public final class SenderShards {
    private static final int AGREEMENTS = 2;
    private static final int SHIPMENTS = 16;
    /** Settings that intervals on their way may have. */
    private static final int GIVEN = 4;

    private final List<Shard> shards;
    /** Of the newest agreements, the oldest first. */
    private final List<IntervalSettings> given = new ArrayList<>();
    private long kernelDrops;
    private long ringDrops;
    private long latePackets;
    private long unsketchedPackets;
    private volatile long incompleteCount;

    /** Nothing agreed yet. */
    public SenderShards(final int count) {
        shards = Stream.generate(Shard::new).limit(count).toList();
    }

    /** {@return the link of a metering thread} */
    public SenderLink link(final int shard) {
        return shards.get(shard);
    }

    /** {@return whether every shard has taken the last agreement} */
    public boolean areAgreed() {
        return shards.stream().allMatch((each) -> each.agreed.isEmpty());
    }

    /** Gives an agreement to every shard, with sketches of its own. Returns that of the first, whose shipments are polled. */
    public SketchAgreement agree(final SketchAgreement agreement) {
        final SketchAgreement first = shards.size() == 1 ? agreement : agreement.ofShard(agreement.point());
        given.add(agreement.settings());
        if (given.size() > GIVEN) {
            given.remove(0);
        }
        for (final Shard each : shards) {
            each.agreed.offer(each == shards.get(0) ? first :
                agreement.ofShard(new IntervalPoint(agreement.settings(), false)));
        }
        return first;
    }

    /** {@return the next interval of which all shards have shipped their parts, to be given back; null if there is none} */
    public SketchShipment poll() {
        if (shards.size() == 1) {
            return shards.get(0).shipped.poll();
        }
        boolean isWhole;
        boolean isAnyLeft;
        do {
            SketchShipment newest = null;
            isWhole = true;
            for (final Shard each : shards) {
                final SketchShipment head = head(each);
                isWhole &= head != null;
                newest = newest == null || head != null && isBefore(newest, head) ? head : newest;
            }
            isAnyLeft = false;
            for (final Shard each : shards) {
                if (each.head != null && isBefore(each.head, newest)) {
                    leaveOut(each);
                    isAnyLeft = true;
                }
            }
            if (isWhole && !isAnyLeft) {
                final SketchShipment merged = merge();
                if (merged.interval().isInFlightComplete()) {
                    return merged;
                }
                keepCounts(merged);
                giveBack(merged);
                incompleteCount = incompleteCount + 1;
                isAnyLeft = true;
            }
        } while (isAnyLeft);
        return null;
    }

    /** The next part of a shard. If a later one is of an earlier interval, the clock was set back, and the part has no others. */
    private SketchShipment head(final Shard shard) {
        shard.head = shard.head == null ? shard.shipped.poll() : shard.head;
        SketchShipment next = shard.head == null ? null : shard.shipped.peek();
        while (next != null && !isBefore(shard.head, next)) {
            leaveOut(shard);
            shard.head = shard.shipped.poll();
            next = shard.shipped.peek();
        }
        return shard.head;
    }

    private boolean isBefore(final SketchShipment one, final SketchShipment other) {
        final int rank = rank(one);
        final int otherRank = rank(other);
        return rank < otherRank ||
            rank == otherRank && one.interval().intervalNumber() < other.interval().intervalNumber();
    }

    private int rank(final SketchShipment shipment) {
        int rank = given.size() - 1;
        while (rank >= 0 && given.get(rank) != shipment.agreement().settings()) {
            rank--;
        }
        return rank;
    }

    private SketchShipment merge() {
        final SketchShipment first = shards.get(0).take();
        for (final Shard each : shards.subList(1, shards.size())) {
            final SketchShipment part = each.take();
            IntervalPoint.add(first.interval(), part.interval());
            keepCounts(part);
            each.returned.offer(part);
        }
        final SketchShipment merged = new SketchShipment(
            first.agreement(), first.interval(), first.kernelDrops() + kernelDrops, first.ringDrops() + ringDrops,
            first.latePackets() + latePackets, first.unsketchedPackets() + unsketchedPackets);
        kernelDrops = 0;
        ringDrops = 0;
        latePackets = 0;
        unsketchedPackets = 0;
        return merged;
    }

    private void leaveOut(final Shard shard) {
        final SketchShipment part = shard.take();
        keepCounts(part);
        shard.returned.offer(part);
        incompleteCount = incompleteCount + 1;
    }

    private void keepCounts(final SketchShipment part) {
        kernelDrops += part.kernelDrops();
        ringDrops += part.ringDrops();
        latePackets += part.latePackets();
        unsketchedPackets += part.unsketchedPackets();
    }

    /** Gives the first shard its part of an interval back. */
    public void giveBack(final SketchShipment shipment) {
        shards.get(0).returned.offer(shipment);
    }

    /** {@return parts of intervals that were left out, because another shard left its part out; any thread} */
    public long incompleteCount() {
        return incompleteCount;
    }

    /** One metering thread. */
    private final class Shard implements SenderLink {
        private final OneToOneConcurrentArrayQueue<SketchAgreement> agreed = new OneToOneConcurrentArrayQueue<>(AGREEMENTS);
        private final OneToOneConcurrentArrayQueue<SketchShipment> shipped = new OneToOneConcurrentArrayQueue<>(SHIPMENTS);
        private final OneToOneConcurrentArrayQueue<SketchShipment> returned = new OneToOneConcurrentArrayQueue<>(2 * SHIPMENTS);
        private final DigestSwitch digests = new DigestSwitch();
        private SketchShipment head;

        private SketchShipment take() {
            final SketchShipment taken = head;
            head = null;
            return taken;
        }

        @Override
        public SenderLink shard(final int index) {
            return link(index);
        }

        @Override
        public boolean isOneOfSeveral() {
            return shards.size() > 1;
        }

        @Override
        public DigestSwitch digests() {
            return digests;
        }

        @Override
        public SketchAgreement takeAgreement() {
            return agreed.poll();
        }

        @Override
        public boolean ship(final SketchShipment shipment) {
            return shipped.offer(shipment);
        }

        @Override
        public SketchShipment takeBack() {
            return returned.poll();
        }

        @Override
        public void shipSendTime(final int streamIndex, final int sequenceNumber, final long sentNs, final int methodCode) {
            throw new UnsupportedOperationException("references are sent by the first shard, whose link is the exchange's");
        }

        @Override
        public void shipPassiveSendTime(final long digest, final long sentNs) {
            throw new UnsupportedOperationException("agreements of shards have no such packets");
        }
    }
}

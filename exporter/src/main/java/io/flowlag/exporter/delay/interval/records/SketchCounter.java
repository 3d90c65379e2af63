package io.flowlag.exporter.delay.interval.records;

import io.flowlag.common.counter.Counted;
import io.flowlag.common.counter.CounterSet;
import io.flowlag.sketch.reconcile.PacketCache;

import java.util.Locale;

/**
 * Counters of a segment's sketches, each with label, unit and a description. Labels of joint estimation and reconciliation are
 * the names; the others begin with {@code lds_}. These sums hold at any time:
 * <pre>
 * sent     = sentWithoutDigest + sentBooked + sentLate + sentUnsketched
 * received = receivedWithoutDigest + receivedBooked + receivedHeld + receivedLate + receivedUnsketched
 * waited   = completed + waiting
 * jointEstimates = jointEstimatesBooked + jointEstimatesHeld + jointEstimatesLate + jointEstimatesOverrun +
 *                  jointEstimatesUnsketched
 * reconcileIntervals = reconcileComplete + reconcileIncomplete + reconcileUnanswered + reconcileRefused
 * reconcileOffered = reconcileHeld + reconcileNotSampled + reconcileWithdrawn + reconcileSaturated
 * </pre>
 */
public enum SketchCounter implements Counted {
    SENT("packets", "Packets of the segment seen at the sender point."),
    SENT_WITHOUT_DIGEST("packets", "Sent packets without a digest; kept out of the sketches."),
    SENT_BOOKED("packets", "Sent packets that are in a sketch."),
    SENT_LATE("packets", "Sent packets that came when their interval was closed."),
    SENT_UNSKETCHED("packets", "Sent packets whose interval found no empty sketch."),
    RECEIVED("packets", "Packets of the segment seen at the receiver point."),
    RECEIVED_WITHOUT_DIGEST("packets", "Received packets without a digest; kept out of the sketches."),
    RECEIVED_BOOKED("packets", "Received packets that are in a sketch."),
    RECEIVED_HELD("packets", "Received packets of which it is not yet known in which interval they were sent."),
    RECEIVED_LATE("packets", "Received packets that came when their interval was closed."),
    RECEIVED_UNSKETCHED("packets", "Received packets whose interval found no empty sketch."),
    BOOKED_EARLIER("packets", "Received packets that were booked into an earlier interval, by the sender's digests."),
    BOOKED_LATER(
        "packets",
        "Received packets that were booked into a later interval, by the sender's digests: the receiver's clock lags."),
    CLOCKS_APART(
        "intervals",
        "Ends of intervals at which the clocks were too far apart to say where packets were sent: loss is absent on both sides."),
    HELD_OVERFLOW("packets", "Received packets booked by their arrival, because too many were held."),
    INTERVALS_SHIPPED("intervals", "Intervals of the sender point handed to the exchange."),
    INTERVALS_UNSHIPPED(
        "intervals", "Intervals of the sender point that were not whole, or found no room on their way to the exchange."),
    INTERVALS("intervals", "Intervals in which both points were compared."),
    OCCUPIED_CELLS("cells", "Cells with packets of either point, in the compared intervals."),
    USABLE_CELLS("cells", "Of those, cells in which both points have the same packets."),
    INTERVALS_UNANSWERED("intervals", "Intervals for which no answer of the sender came in time."),
    INTERVALS_REFUSED("intervals", "Intervals of the sender that do not fit: shape, seed or times."),
    INTERVALS_DAMAGED("intervals", "Compared intervals in which a point lost packets of its own: loss is absent."),
    INTERVALS_OF_FLOWS("intervals", "Compared intervals in which the sums of all flows took the place of sketches."),
    SHAPE_STEPS("changes", "Changes of the sketches that the process made by itself, to follow the load."),
    FLOWS_EXACT("flows", "Flows of an interval whose sums agree at both points: exact mean, no loss."),
    FLOWS_WITH_LOSS("flows", "Flows of an interval with fewer packets at the receiver point."),
    FLOWS_DIFFERENT("flows", "Flows of an interval with as many packets at the receiver point, or more, but others."),
    FLOWS_UNSEEN("flows", "Flows of an interval of which no packet came to the receiver point."),
    FLOWS_NOT_SENT("flows", "Flows of an interval of which no packet crossed the sender point."),
    NOT_OF_SEGMENT(
        "packets", "Packets of flows of which the receiver point saw nothing so far: traffic by another way out. They are lost " +
        "packets where the receiver's selector names the segment's addresses."),
    FLOW_SUMS_OVERFLOW("packets", "Packets of flows for whose sums there was no room, at a point of this process."),
    WITNESSES("flows", "Witness flows of compared intervals, as the sender chose them."),
    WITNESSES_EXACT("flows", "Of those, flows whose sums agree at both points."),
    INTERVALS_CUT("intervals", "Compared intervals of which only a part was seen: loss is absent unless it is 0."),
    INTERVALS_REMARKED(
        "intervals",
        "Compared whole intervals in which a class received more packets than were sent in it: marks change on the way."),
    STRAGGLERS(
        "times",
        "Times that a point found packets of an interval that was compared already: all records then under way have no loss."),
    RECORDS_WITHOUT_ROOM("records", "Flow records without a sketch estimate, because the table was full."),
    RECORDS_WAITED("records", "Flow records that had to wait for an answer."),
    RECORDS_COMPLETED("records", "Flow records that have waited and were handed on."),
    RECORDS_WAITING("records", "Flow records that wait now."),
    RECORDS_NOT_WAITED("records", "Flow records handed on before their answer, because too many waited."),
    JOINT_ESTIMATES("packets", "Packets with an estimate by references."),
    JOINT_ESTIMATES_BOOKED("packets", "Of those, packets whose estimate is in the sums of their cells."),
    JOINT_ESTIMATES_HELD("packets", "Packets with an estimate of which it is not yet known in which interval they were sent."),
    JOINT_ESTIMATES_LATE("packets", "Packets whose estimate came when their interval was closed."),
    JOINT_ESTIMATES_OVERRUN("packets", "Packets whose estimate came after more than joint.pending further packets."),
    JOINT_ESTIMATES_UNSKETCHED("packets", "Packets with an estimate that are in no sketch."),
    JOINT_INTERVALS("intervals", "Intervals that were given to the solver and came back."),
    JOINT_INTERVALS_SOLVED("intervals", "Of those, solved by references and cells together."),
    JOINT_INTERVALS_CELLS_ALONE("intervals", "Of those, solved by all cells together, as there was no reference."),
    JOINT_INTERVALS_BY_RLI(
        "intervals", "Of those, where references alone stand in: no cell was usable, or the solution did not fit the cells."),
    JOINT_INTERVALS_BY_LDS("intervals", "Of those, where sketches alone stand in: the solution did not fit the cells."),
    JOINT_INTERVALS_UNKNOWN("intervals", "Of those, intervals without a result for any flow."),
    JOINT_INTERVALS_FAST("intervals", "Of those, made by the fast tier, to keep the budget."),
    JOINT_ANSWERED("flows", "Flows with an estimate, over all intervals solved."),
    JOINT_VOUCHED("flows", "Of those, whose bound witness flows vouch for, or whose cells leave nothing open."),
    JOINT_INTERVALS_SKIPPED("intervals", "Intervals not solved, because the solver was behind."),
    JOINT_INTERVALS_TOO_LARGE("intervals", "Intervals not solved, because they have more flows than joint.max-flows."),
    JOINT_WITNESSES("flows", "Flows whose true delay the sender told, over all intervals solved."),
    JOINT_WITNESSES_LEFT_OUT(
        "flows", "Further ones for which an interval has no room: it takes joint.max-flows / 16, at least 256."),
    JOINT_CHECKED(
        "flows", "Flows with a bound that were no witnesses, over all intervals solved, where joint.check is on and sums agree."),
    JOINT_CHECKED_HELD("flows", "Of those, whose true mean lies within the bound."),
    RECONCILE_INTERVALS("intervals", "Intervals whose packets both points tried to reconcile."),
    RECONCILE_COMPLETE("intervals", "Of those, where every packet that only one point has was listed and taken out."),
    RECONCILE_INCOMPLETE(
        "intervals",
        "Of those, where some packets could not be listed or taken out: losses are upper bounds, and clean cells still count."),
    RECONCILE_UNANSWERED("intervals", "Of those, for which the sender did not answer in time."),
    RECONCILE_REFUSED("intervals", "Of those, where the sender's answer does not fit: shape, seed or times."),
    RECONCILE_LOST("packets", "Packets listed that only the sender point has, by flow."),
    RECONCILE_UNEXPECTED("packets", "Packets listed that only the receiver point has, by flow."),
    RECONCILE_LOST_UNNAMED(
        "packets",
        "Packets listed as lost of flows of which the receiver point has no record, and got no key from the sender point."),
    RECONCILE_FLOWS_UNSEEN(
        "flows", "Flows of which only the sender point has packets in an interval, all lost: each has a record of its own."),
    RECONCILE_KEYS_OVERFLOW(
        "packets",
        "Packets at the sender point of flows whose key found no room in an interval; their losses are assigned to no flow."),
    RECONCILE_LATE(
        "packets", "Packets that arrived later than segment.max-delay, and were found in the next interval: no loss, and in no " +
        "mean by sketches."),
    RECONCILE_UNREPAIRED("packets", "Packets listed of which too little is known to take them out of their cells."),
    RECONCILE_CELLS("cells", "Cells of the aggregators that were compared."),
    RECONCILE_CELLS_UNDECODED("cells", "Of those, cells that still differ when all is listed."),
    RECONCILE_REMARKED(
        "packets", "Packets listed that have another traffic class at the receiver point than at the sender point."),
    RECONCILE_OCTETS("octets", "Octets of requests and answers; in one process, what an exchange would take."),
    RECONCILE_OFFERED("packets", "Packets of reconciled intervals offered to the caches of this process."),
    RECONCILE_HELD("packets", "Of those, packets that were remembered to the end."),
    RECONCILE_NOT_SAMPLED("packets", "Of those, packets of flows that a full cache leaves out."),
    RECONCILE_WITHDRAWN("packets", "Of those, packets that were remembered until a full cache left out their flow."),
    RECONCILE_SATURATED("packets", "Of those, packets with more than 1022 copies."),
    RECONCILE_COPIES("packets", "Packets remembered beside another one with the same digest."),
    RECONCILE_COLLIDING("packets", "Of those, packets of another flow than the first with that digest.");

    private final Text text;

    SketchCounter(final String unit, final String sentence) {
        text = new Text((name().startsWith("JOINT_") || name().startsWith("RECONCILE_") ? "" : "lds_") +
            name().toLowerCase(Locale.ROOT), unit, sentence);
    }

    @Override
    public Text text() {
        return text;
    }

    /** Adds the counts of the packets that an interval keeps. */
    public static void countCache(final CounterSet<SketchCounter> counters, final SenderAnswer interval) {
        final PacketCache packets = interval.packets();
        counters.add(RECONCILE_KEYS_OVERFLOW, interval.keys().overflowPackets());
        counters.add(RECONCILE_OFFERED, packets.offeredPackets());
        counters.add(RECONCILE_HELD, packets.heldPackets());
        counters.add(RECONCILE_NOT_SAMPLED, packets.notSampledPackets());
        counters.add(RECONCILE_WITHDRAWN, packets.withdrawnPackets());
        counters.add(RECONCILE_SATURATED, packets.saturatedPackets());
        counters.add(RECONCILE_COPIES, packets.copyPackets());
        counters.add(RECONCILE_COLLIDING, packets.collidingPackets());
    }

    /** {@return packets offered to the caches that no counter explains; 0 when the sum holds} */
    public static long unexplainedCached(final CounterSet<SketchCounter> counters) {
        return unexplained(
            counters, RECONCILE_OFFERED, RECONCILE_HELD, RECONCILE_NOT_SAMPLED, RECONCILE_WITHDRAWN, RECONCILE_SATURATED);
    }

    /** {@return sent packets that no counter explains; 0 when the sum holds} */
    public static long unexplainedSent(final CounterSet<SketchCounter> counters) {
        return unexplained(counters, SENT, SENT_WITHOUT_DIGEST, SENT_BOOKED, SENT_LATE, SENT_UNSKETCHED);
    }

    /** {@return received packets that no counter explains; 0 when the sum holds} */
    public static long unexplainedReceived(final CounterSet<SketchCounter> counters) {
        return unexplained(
            counters, RECEIVED, RECEIVED_WITHOUT_DIGEST, RECEIVED_BOOKED, RECEIVED_HELD, RECEIVED_LATE, RECEIVED_UNSKETCHED);
    }

    /** {@return records that waited and that no counter explains; 0 when the sum holds} */
    public static long unexplainedRecords(final CounterSet<SketchCounter> counters) {
        return unexplained(counters, RECORDS_WAITED, RECORDS_COMPLETED, RECORDS_WAITING);
    }

    /** {@return estimates that no counter explains; 0 when the sum holds} */
    public static long unexplainedEstimates(final CounterSet<SketchCounter> counters) {
        return unexplained(
            counters, JOINT_ESTIMATES, JOINT_ESTIMATES_BOOKED, JOINT_ESTIMATES_HELD, JOINT_ESTIMATES_LATE,
            JOINT_ESTIMATES_OVERRUN, JOINT_ESTIMATES_UNSKETCHED);
    }

    private static long unexplained(
        final CounterSet<SketchCounter> counters, final SketchCounter total, final SketchCounter... parts) {
        long rest = counters.get(total);
        for (final SketchCounter each : parts) {
            rest -= counters.get(each);
        }
        return rest;
    }
}

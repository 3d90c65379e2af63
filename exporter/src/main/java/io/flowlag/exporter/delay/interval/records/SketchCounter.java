package io.flowlag.exporter.delay.interval.records;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.delay.interval.repair.FlowKeyTable;
import io.flowlag.sketch.reconcile.PacketCache;

/**
 * Counters of a segment's sketches, each with label, unit and a description. These sums hold at any time:
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
public enum SketchCounter {
    SENT("lds_sent", "packets", "Packets of the segment seen at the sender point."),
    SENT_WITHOUT_DIGEST("lds_sent_without_digest", "packets", "Sent packets without a digest; kept out of the sketches."),
    SENT_BOOKED("lds_sent_booked", "packets", "Sent packets that are in a sketch."),
    SENT_LATE("lds_sent_late", "packets", "Sent packets that came when their interval was closed."),
    SENT_UNSKETCHED("lds_sent_unsketched", "packets", "Sent packets whose interval found no empty sketch."),
    RECEIVED("lds_received", "packets", "Packets of the segment seen at the receiver point."),
    RECEIVED_WITHOUT_DIGEST(
        "lds_received_without_digest", "packets", "Received packets without a digest; kept out of the sketches."),
    RECEIVED_BOOKED("lds_received_booked", "packets", "Received packets that are in a sketch."),
    RECEIVED_HELD(
        "lds_received_held", "packets", "Received packets of which it is not yet known in which interval they were sent."),
    RECEIVED_LATE("lds_received_late", "packets", "Received packets that came when their interval was closed."),
    RECEIVED_UNSKETCHED("lds_received_unsketched", "packets", "Received packets whose interval found no empty sketch."),
    BOOKED_EARLIER(
        "lds_booked_earlier", "packets", "Received packets that were booked into an earlier interval, by the sender's digests."),
    BOOKED_LATER(
        "lds_booked_later", "packets",
        "Received packets that were booked into a later interval, by the sender's digests: the receiver's clock lags."),
    CLOCKS_APART(
        "lds_clocks_apart", "intervals",
        "Ends of intervals at which the clocks were too far apart to say where packets were sent: loss is absent on both sides."),
    HELD_OVERFLOW(
        "lds_held_overflow", "packets", "Received packets booked by their arrival, because too many were held."),
    INTERVALS_SHIPPED("lds_intervals_shipped", "intervals", "Intervals of the sender point handed to the exchange."),
    INTERVALS_UNSHIPPED(
        "lds_intervals_unshipped", "intervals",
        "Intervals of the sender point that were not whole, or found no room on their way to the exchange."),
    INTERVALS("lds_intervals", "intervals", "Intervals in which both points were compared."),
    OCCUPIED_CELLS("lds_occupied_cells", "cells", "Cells with packets of either point, in the compared intervals."),
    USABLE_CELLS("lds_usable_cells", "cells", "Of those, cells in which both points have the same packets."),
    INTERVALS_UNANSWERED("lds_intervals_unanswered", "intervals", "Intervals for which no answer of the sender came in time."),
    INTERVALS_REFUSED("lds_intervals_refused", "intervals", "Intervals of the sender that do not fit: shape, seed or times."),
    INTERVALS_DAMAGED(
        "lds_intervals_damaged", "intervals", "Compared intervals in which a point lost packets of its own: loss is absent."),
    INTERVALS_OF_FLOWS(
        "lds_intervals_of_flows", "intervals", "Compared intervals in which the sums of all flows took the place of sketches."),
    FLOWS_EXACT("lds_flows_exact", "flows", "Flows of an interval whose sums agree at both points: exact mean, no loss."),
    FLOWS_WITH_LOSS("lds_flows_with_loss", "flows", "Flows of an interval with fewer packets at the receiver point."),
    FLOWS_DIFFERENT(
        "lds_flows_different", "flows", "Flows of an interval with as many packets at the receiver point, or more, but others."),
    FLOWS_UNSEEN("lds_flows_unseen", "flows", "Flows of an interval of which no packet came to the receiver point."),
    NOT_OF_SEGMENT(
        "lds_not_of_segment", "packets",
        "Packets of flows of which the receiver point saw nothing so far: traffic by another way out. They are lost packets " +
        "where the receiver's selector names the segment's addresses."),
    FLOW_SUMS_OVERFLOW(
        "lds_flow_sums_overflow", "packets", "Packets of flows for whose sums there was no room, at a point of this process."),
    WITNESSES("lds_witnesses", "flows", "Witness flows of compared intervals, as the sender chose them."),
    WITNESSES_EXACT("lds_witnesses_exact", "flows", "Of those, flows whose sums agree at both points."),
    INTERVALS_CUT(
        "lds_intervals_cut", "intervals", "Compared intervals of which only a part was seen: loss is absent unless it is 0."),
    INTERVALS_REMARKED(
        "lds_intervals_remarked", "intervals",
        "Compared whole intervals in which a class received more packets than were sent in it: marks change on the way."),
    STRAGGLERS(
        "lds_stragglers", "times",
        "Times that a point found packets of an interval that was compared already: all records then under way have no loss."),
    RECORDS_WITHOUT_ROOM(
        "lds_records_without_room", "records", "Flow records without a sketch estimate, because the table was full."),
    RECORDS_WAITED("lds_records_waited", "records", "Flow records that had to wait for an answer."),
    RECORDS_COMPLETED("lds_records_completed", "records", "Flow records that have waited and were handed on."),
    RECORDS_WAITING("lds_records_waiting", "records", "Flow records that wait now."),
    RECORDS_NOT_WAITED(
        "lds_records_not_waited", "records", "Flow records handed on before their answer, because too many waited."),
    JOINT_ESTIMATES("joint_estimates", "packets", "Packets with an estimate by references."),
    JOINT_ESTIMATES_BOOKED(
        "joint_estimates_booked", "packets", "Of those, packets whose estimate is in the sums of their cells."),
    JOINT_ESTIMATES_HELD(
        "joint_estimates_held", "packets",
        "Packets with an estimate of which it is not yet known in which interval they were sent."),
    JOINT_ESTIMATES_LATE("joint_estimates_late", "packets", "Packets whose estimate came when their interval was closed."),
    JOINT_ESTIMATES_OVERRUN(
        "joint_estimates_overrun", "packets", "Packets whose estimate came after more than joint.pending further packets."),
    JOINT_ESTIMATES_UNSKETCHED("joint_estimates_unsketched", "packets", "Packets with an estimate that are in no sketch."),
    JOINT_INTERVALS("joint_intervals", "intervals", "Intervals that were given to the solver and came back."),
    JOINT_INTERVALS_SOLVED("joint_intervals_solved", "intervals", "Of those, solved by references and cells together."),
    JOINT_INTERVALS_CELLS_ALONE(
        "joint_intervals_cells_alone", "intervals", "Of those, solved by all cells together, as there was no reference."),
    JOINT_INTERVALS_BY_RLI(
        "joint_intervals_by_rli", "intervals",
        "Of those, where references alone stand in: no cell was usable, or the solution did not fit the cells."),
    JOINT_INTERVALS_BY_LDS(
        "joint_intervals_by_lds", "intervals", "Of those, where sketches alone stand in: the solution did not fit the cells."),
    JOINT_INTERVALS_UNKNOWN("joint_intervals_unknown", "intervals", "Of those, intervals without a result for any flow."),
    JOINT_INTERVALS_FAST("joint_intervals_fast", "intervals", "Of those, made by the fast tier, to keep the budget."),
    JOINT_ANSWERED("joint_answered", "flows", "Flows with an estimate, over all intervals solved."),
    JOINT_VOUCHED(
        "joint_vouched", "flows", "Of those, whose bound witness flows vouch for, or whose cells leave nothing open."),
    JOINT_INTERVALS_SKIPPED("joint_intervals_skipped", "intervals", "Intervals not solved, because the solver was behind."),
    JOINT_INTERVALS_TOO_LARGE(
        "joint_intervals_too_large", "intervals", "Intervals not solved, because they have more flows than joint.max-flows."),
    JOINT_WITNESSES("joint_witnesses", "flows", "Flows whose true delay the sender told, over all intervals solved."),
    JOINT_WITNESSES_LEFT_OUT(
        "joint_witnesses_left_out", "flows",
        "Further ones for which an interval has no room: it takes joint.max-flows / 16, at least 256."),
    JOINT_CHECKED(
        "joint_checked", "flows",
        "Flows with a bound that were no witnesses, over all intervals solved, where joint.check is on and sums agree."),
    JOINT_CHECKED_HELD("joint_checked_held", "flows", "Of those, whose true mean lies within the bound."),
    RECONCILE_INTERVALS("reconcile_intervals", "intervals", "Intervals whose packets both points tried to reconcile."),
    RECONCILE_COMPLETE(
        "reconcile_complete", "intervals", "Of those, where every packet that only one point has was listed and taken out."),
    RECONCILE_INCOMPLETE(
        "reconcile_incomplete", "intervals",
        "Of those, where some packets could not be listed or taken out: losses are upper bounds, and clean cells still count."),
    RECONCILE_UNANSWERED("reconcile_unanswered", "intervals", "Of those, for which the sender did not answer in time."),
    RECONCILE_REFUSED(
        "reconcile_refused", "intervals", "Of those, where the sender's answer does not fit: shape, seed or times."),
    RECONCILE_LOST("reconcile_lost", "packets", "Packets listed that only the sender point has, by flow."),
    RECONCILE_UNEXPECTED("reconcile_unexpected", "packets", "Packets listed that only the receiver point has, by flow."),
    RECONCILE_LOST_UNNAMED(
        "reconcile_lost_unnamed", "packets",
        "Packets listed as lost of flows of which the receiver point has no record, and got no key from the sender point."),
    RECONCILE_FLOWS_UNSEEN(
        "reconcile_flows_unseen", "flows",
        "Flows of which only the sender point has packets in an interval, all lost: each has a record of its own."),
    RECONCILE_KEYS_OVERFLOW(
        "reconcile_keys_overflow", "packets",
        "Packets at the sender point of flows whose key found no room in an interval; their losses are assigned to no flow."),
    RECONCILE_LATE(
        "reconcile_late", "packets",
        "Packets that arrived later than segment.max-delay, and were found in the next interval: no loss, and in no mean by " +
        "sketches."),
    RECONCILE_UNREPAIRED(
        "reconcile_unrepaired", "packets", "Packets listed of which too little is known to take them out of their cells."),
    RECONCILE_CELLS("reconcile_cells", "cells", "Cells of the aggregators that were compared."),
    RECONCILE_CELLS_UNDECODED("reconcile_cells_undecoded", "cells", "Of those, cells that still differ when all is listed."),
    RECONCILE_REMARKED(
        "reconcile_remarked", "packets",
        "Packets listed that have another traffic class at the receiver point than at the sender point."),
    RECONCILE_OCTETS(
        "reconcile_octets", "octets", "Octets of requests and answers; in one process, what an exchange would take."),
    RECONCILE_OFFERED("reconcile_offered", "packets", "Packets of reconciled intervals offered to the caches of this process."),
    RECONCILE_HELD("reconcile_held", "packets", "Of those, packets that were remembered to the end."),
    RECONCILE_NOT_SAMPLED(
        "reconcile_not_sampled", "packets", "Of those, packets of flows that a full cache leaves out."),
    RECONCILE_WITHDRAWN(
        "reconcile_withdrawn", "packets", "Of those, packets that were remembered until a full cache left out their flow."),
    RECONCILE_SATURATED("reconcile_saturated", "packets", "Of those, packets with more than 1022 copies."),
    RECONCILE_COPIES("reconcile_copies", "packets", "Packets remembered beside another one with the same digest."),
    /** Copies of other flows. */
    RECONCILE_COLLIDING("reconcile_colliding", "packets", "Of those, packets of another flow than the first with that digest.");

    private final String label;
    private final String unit;
    private final String description;

    SketchCounter(final String label, final String unit, final String description) {
        this.label = label;
        this.unit = unit;
        this.description = description;
    }

    public String label() {
        return label;
    }

    public String unit() {
        return unit;
    }

    public String description() {
        return description;
    }

    /**
     * Adds the counts of a cache for the packets of an interval.
     *
     * @param keys of their flows; null at the receiver point, which needs none.
     */
    public static void countCache(
        final CounterSet<SketchCounter> counters, final PacketCache packets, final FlowKeyTable keys) {
        counters.add(RECONCILE_KEYS_OVERFLOW, keys == null ? 0 : keys.overflowPackets());
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
        return counters.get(RECONCILE_OFFERED) - counters.get(RECONCILE_HELD) -
            counters.get(RECONCILE_NOT_SAMPLED) - counters.get(RECONCILE_WITHDRAWN) -
            counters.get(RECONCILE_SATURATED);
    }

    /** {@return sent packets that no counter explains; 0 when the sum holds} */
    public static long unexplainedSent(final CounterSet<SketchCounter> counters) {
        return counters.get(SENT) - counters.get(SENT_WITHOUT_DIGEST) - counters.get(SENT_BOOKED) -
            counters.get(SENT_LATE) - counters.get(SENT_UNSKETCHED);
    }

    /** {@return received packets that no counter explains; 0 when the sum holds} */
    public static long unexplainedReceived(final CounterSet<SketchCounter> counters) {
        return counters.get(RECEIVED) - counters.get(RECEIVED_WITHOUT_DIGEST) -
            counters.get(RECEIVED_BOOKED) - counters.get(RECEIVED_HELD) - counters.get(RECEIVED_LATE) -
            counters.get(RECEIVED_UNSKETCHED);
    }

    /** {@return records that waited and that no counter explains; 0 when the sum holds} */
    public static long unexplainedRecords(final CounterSet<SketchCounter> counters) {
        return counters.get(RECORDS_WAITED) - counters.get(RECORDS_COMPLETED) -
            counters.get(RECORDS_WAITING);
    }

    /** {@return estimates that no counter explains; 0 when the sum holds} */
    public static long unexplainedEstimates(final CounterSet<SketchCounter> counters) {
        return counters.get(JOINT_ESTIMATES) - counters.get(JOINT_ESTIMATES_BOOKED) -
            counters.get(JOINT_ESTIMATES_HELD) - counters.get(JOINT_ESTIMATES_LATE) -
            counters.get(JOINT_ESTIMATES_OVERRUN) - counters.get(JOINT_ESTIMATES_UNSKETCHED);
    }
}

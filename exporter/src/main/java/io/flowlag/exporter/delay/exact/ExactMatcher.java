package io.flowlag.exporter.delay.exact;

import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.flow.FlowCache;
import org.agrona.DirectBuffer;

import java.util.concurrent.TimeUnit;

/**
 * Matches every packet of a segment by its digest: the packets of the sender point with those of the receiver point, in one
 * process ({@code docs/exact.md}).
 * <p>
 * A packet sent at a and received at b matches if -maximumLead &lt;= b - a &lt;= maximumDelay; its delay b - a is signed.
 * Packets with equal digests (twins) match in order of arrival. Sent and received packets may be handed over in either order;
 * the first one waits.
 * <p>
 * A sent packet that waited for longer than the maximum delay is lost. A received one is a duplicate if its digest had matched
 * a packet sent at most the maximum delay before it, else it is unexpected. Where this process missed packets at one point
 * (overflow here, or {@link #onSenderGap}, {@link #onReceiverGap}), unmatched packets of the other point are undecided: neither
 * lost nor unexpected.
 * <p>
 * One thread owns a matcher, its flows and its counters. The work of a call is bounded by the packets that it decides; each is
 * decided once. Where the maximum delay may grow, later packets extend it, if there is memory. Allocates at construction, and
 * off-heap when it started with fewer packets than it may remember and needs more room.
 */
public final class ExactMatcher {
    private static final int NOT_GIVEN_BY_DIGEST = PacketDescriptor.FLAG_DIGEST_SHORT | PacketDescriptor.FLAG_DIGEST;
    private static final int FORGET_LIMIT = 64;
    /** From this count on packets at a distant time are significant: a single one may be another packet with the same digest. */
    private static final long SURE_DISTANT = 4;
    /** The share of memory that a longer wait may use. */
    private static final double MOST_FULL = 0.75;
    /** Packets from farther in the future are not waited for: a clock was set back since. */
    private static final long FUTURE_NS = TimeUnit.MINUTES.toNanos(1);

    private final long maximumLeadNs;
    private final int joinedAboveBytes;
    private final long graceNs;
    private final long growingUpToNs;
    private final int maxPackets;
    private final WaitingPackets packets;
    private final DigestTable digests;
    private final DistantDigests distantSent = new DistantDigests();
    private final DistantDigests distantReceived = new DistantDigests();
    private final SegmentFlows flows;
    private final PacketFeatures features;
    private final MatchHandler handler;
    private final MatchCounters counters;

    private long maximumDelayNs;
    private long rememberedNs;
    private boolean hasSenderGap;
    private long senderGapNs;
    private boolean hasReceiverGap;
    private long receiverGapNs;
    private long delayNs;

    /**
     * A matcher that remembers no packet.
     *
     * @param flows   of the segment, owned by this matcher's thread, with the same counters.
     * @param handler takes the results of packets; {@link MatchHandler#NONE} to ignore them.
     */
    public ExactMatcher(final ExactMatcherSettings settings, final SegmentFlows flows, final MatchHandler handler) {
        maximumDelayNs = settings.maximumDelayNs();
        maximumLeadNs = settings.maximumLeadNs();
        joinedAboveBytes = settings.joinedAboveBytes();
        graceNs = settings.graceNs();
        growingUpToNs = settings.growingUpToNs();
        maxPackets = settings.maxPackets();
        rememberedNs = maximumDelayNs + graceNs;
        packets = new WaitingPackets(settings.maxPackets(), settings.startPackets());
        digests = new DigestTable(settings.maxPackets(), packets);
        this.flows = flows;
        this.handler = handler;
        counters = flows.counters();
        features = new PacketFeatures(counters);
        counters.waitNs(maximumDelayNs);
    }

    /**
     * Prefetches the flows and digests of the next packets of both points. Changes nothing.
     *
     * @param descriptors hold the decoded packets, of the segment or not.
     * @param count       of packets, at most {@link FlowCache#TOUCH_LIMIT}.
     * @return a value to keep, so that the compiler does not remove the reads.
     */
    public long touch(final DirectBuffer descriptors, final int offset, final int count) {
        long octets = 0;
        for (int i = 0; i < count; i++) {
            octets += digests.touch(PacketDescriptor.digest(descriptors, offset + i * PacketDescriptor.LENGTH_BYTES));
        }
        return octets + flows.touch(descriptors, offset, count);
    }

    /** A packet of the segment at the sender point, without a tag. Returns the immediate result. */
    public MatchResult onSent(final DirectBuffer descriptor, final int offset) {
        return onSent(descriptor, offset, 0);
    }

    /** A packet of the segment at the sender point; its tag is passed to the handler. Returns the immediate result. */
    public MatchResult onSent(final DirectBuffer descriptor, final int offset, final long senderTag) {
        counters.increment(MatchCounter.SENT);
        features.onSent(descriptor, offset);
        if (!hasDigest(descriptor, offset, MatchCounter.SENT_DIGEST_SHORT, MatchCounter.SENT_WITHOUT_DIGEST)) {
            return MatchResult.WITHOUT_DIGEST;
        }
        final long sentNs = PacketDescriptor.timestampNs(descriptor, offset);
        final long digest = PacketDescriptor.digest(descriptor, offset);
        final int flow = flows.onSent(descriptor, offset);
        if (flow == SegmentFlows.NOT_SAMPLED) {
            return MatchResult.NOT_SAMPLED;
        }
        tellJoined(descriptor, offset, flow);
        distantSent.add(digest, sentNs);

        makeRoom();
        final int slot = digests.find(digest);
        if (slot != DigestTable.NONE && digests.hasSent(slot)) {
            flows.onTwin(flow);
        }
        if (slot != DigestTable.NONE && matchWithReceived(slot, sentNs, senderTag)) {
            return MatchResult.MATCHED;
        }
        if (packets.isFull()) {
            counters.increment(MatchCounter.SENT_OVERFLOW);
            flows.onUndecided(flow);
            onSenderGap(sentNs);
            return MatchResult.OVERFLOW;
        }
        final int place = slot == DigestTable.NONE ? digests.add(digest) : slot;
        digests.addSent(place, packets.add(WaitingPackets.STATE_SENT, sentNs, senderTag, flow, place));
        counters.increment(MatchCounter.SENT_WAITING);
        flows.onWaiting(flow);
        return MatchResult.WAITING;
    }

    /** A packet of the segment at the receiver point, without a tag. Returns the immediate result. */
    public MatchResult onReceived(final DirectBuffer descriptor, final int offset) {
        return onReceived(descriptor, offset, 0);
    }

    /** A packet of the segment at the receiver point; its tag is passed to the handler. Returns the immediate result. */
    public MatchResult onReceived(final DirectBuffer descriptor, final int offset, final long receiverTag) {
        counters.increment(MatchCounter.RECEIVED);
        features.onReceived(descriptor, offset);
        if (!hasDigest(descriptor, offset, MatchCounter.RECEIVED_DIGEST_SHORT, MatchCounter.RECEIVED_WITHOUT_DIGEST)) {
            return MatchResult.WITHOUT_DIGEST;
        }
        final long receivedNs = PacketDescriptor.timestampNs(descriptor, offset);
        final long digest = PacketDescriptor.digest(descriptor, offset);
        final int flow = flows.onReceived(descriptor, offset);
        if (flow == SegmentFlows.NOT_SAMPLED) {
            return MatchResult.NOT_SAMPLED;
        }
        tellJoined(descriptor, offset, flow);
        distantReceived.add(digest, receivedNs);

        makeRoom();
        final int slot = digests.find(digest);
        if (slot != DigestTable.NONE && matchWithSent(slot, receivedNs, flow, receiverTag)) {
            return MatchResult.MATCHED;
        }
        if (packets.isFull()) {
            counters.increment(MatchCounter.RECEIVED_OVERFLOW);
            flows.onUndecided(flow);
            onReceiverGap(receivedNs);
            return MatchResult.OVERFLOW;
        }
        final int place = slot == DigestTable.NONE ? digests.add(digest) : slot;
        digests.addReceived(place, packets.add(WaitingPackets.STATE_RECEIVED, receivedNs, receiverTag, flow, place));
        counters.increment(MatchCounter.RECEIVED_WAITING);
        flows.onWaiting(flow);
        return MatchResult.WAITING;
    }

    /**
     * Advances time: decides packets that waited for longer than the maximum delay, and forgets those remembered that long.
     * Every packet with an earlier time, less the grace, must have been handed over before. Packets more than a minute in the
     * future are decided as well: a clock was set back.
     *
     * @param nowNs newest packet time of both points (files) or clock time (live), UNIX epoch.
     * @param limit how many packets to look at in this call at most.
     * @return how many were looked at; fewer than the limit if nothing is left to do now.
     */
    public int onTime(final long nowNs, final int limit) {
        int count = 0;
        while (count < limit && !packets.isEmpty() && isDue(packets.timeNs(packets.oldest()), nowNs)) {
            decideOfOldest();
            count++;
        }
        flows.expire(nowNs);
        return count;
    }

    /**
     * Ends matching: decides all waiting packets, a bounded number in each call.
     *
     * @param observedUntilNs end of the receiver point's observation. Packets sent less than the maximum delay before it, and
     *                        not seen, are undecided. {@link Long#MAX_VALUE} if all had time to arrive.
     * @param limit           how many packets to look at in this call at most.
     * @return whether packets may be left.
     */
    public boolean finish(final long observedUntilNs, final int limit) {
        for (int i = 0; i < limit && !packets.isEmpty(); i++) {
            final int packet = packets.oldest();
            if (packets.state(packet) == WaitingPackets.STATE_SENT &&
                difference(observedUntilNs, packets.timeNs(packet)) < maximumDelayNs) {
                leaveSent(packet, MatchCounter.SENT_UNDECIDED);
                flows.onUndecided(packets.flow(packet));
            }
            decideOfOldest();
        }
        return !packets.isEmpty();
    }

    /**
     * This process missed packets at the sender point up to a time, for example by drops in the kernel. Received packets that do
     * not match and came at most the maximum delay after that are undecided.
     */
    public void onSenderGap(final long untilNs) {
        senderGapNs = hasSenderGap ? Math.max(senderGapNs, untilNs) : untilNs;
        hasSenderGap = true;
    }

    /**
     * This process missed packets at the receiver point up to a time, for example by drops in the kernel. Sent packets that do
     * not match and could have arrived by then are undecided.
     */
    public void onReceiverGap(final long untilNs) {
        receiverGapNs = hasReceiverGap ? Math.max(receiverGapNs, untilNs) : untilNs;
        hasReceiverGap = true;
    }

    /** The clock of both points was set back: all waiting packets are undecided. Earlier packets cannot match later ones. */
    public void onTimeSetBack(final long nowNs) {
        onSenderGap(Long.MAX_VALUE);
        onReceiverGap(Long.MAX_VALUE);
        while (!packets.isEmpty()) {
            decideOfOldest();
        }
        senderGapNs = nowNs;
        receiverGapNs = nowNs;
    }

    /** {@return the delay of the packet that matched last, signed, ns; valid after {@link MatchResult#MATCHED}} */
    public long delayNs() {
        return delayNs;
    }

    /** {@return the counters, including those of the flows} */
    public MatchCounters counters() {
        return counters;
    }

    private boolean isDue(final long timeNs, final long nowNs) {
        final long ageNs = difference(nowNs, timeNs);
        return ageNs > rememberedNs || ageNs < -(rememberedNs + FUTURE_NS);
    }

    private void tellJoined(final DirectBuffer descriptor, final int offset, final int flow) {
        if (PacketDescriptor.ipLengthBytes(descriptor, offset) > joinedAboveBytes) {
            flows.onJoined(flow);
        }
    }

    private boolean hasDigest(
        final DirectBuffer descriptor, final int offset, final MatchCounter whenShort, final MatchCounter whenNone) {
        final int flags = PacketDescriptor.flags(descriptor, offset) & NOT_GIVEN_BY_DIGEST;
        if (flags == PacketDescriptor.FLAG_DIGEST) {
            return true;
        }
        counters.increment((flags & PacketDescriptor.FLAG_DIGEST_SHORT) != 0 ? whenShort : whenNone);
        return false;
    }

    /** Matches a packet being sent with the received packet that waits longest. */
    private boolean matchWithReceived(final int slot, final long sentNs, final long senderTag) {
        int packet = digests.receivedHead(slot);
        while (packet != WaitingPackets.NONE && difference(sentNs, packets.timeNs(packet)) > maximumLeadNs) {
            decideOfReceived(packet);
            packet = digests.receivedHead(slot);
        }
        if (packet == WaitingPackets.NONE || difference(packets.timeNs(packet), sentNs) > maximumDelayNs) {
            return false;
        }
        final long receivedNs = packets.timeNs(packet);
        leaveReceived(packet, MatchCounter.MATCHED);
        packets.becomesSent(packet, Math.max(sentNs, receivedNs));
        digests.becomesSent(slot);
        onMatched(slot, packets.flow(packet), senderTag, packets.tag(packet), sentNs, receivedNs);
        return true;
    }

    /** Matches a packet being received with the sent packet that waits longest. */
    private boolean matchWithSent(final int slot, final long receivedNs, final int flow, final long receiverTag) {
        int packet = digests.sentHead(slot);
        while (packet != WaitingPackets.NONE && difference(receivedNs, packets.timeNs(packet)) > maximumDelayNs &&
            !isLateOnly(packet, receivedNs)) {
            decideOfSent(packet);
            packet = digests.sentHead(slot);
        }
        if (packet == WaitingPackets.NONE || difference(packets.timeNs(packet), receivedNs) > maximumLeadNs) {
            return false;
        }
        leaveSent(packet, MatchCounter.MATCHED);
        onMatched(slot, flow, packets.tag(packet), receiverTag, packets.timeNs(packet), receivedNs);
        return true;
    }

    /**
     * Whether a packet came late, without a later twin that came in time. If so, the matcher waits for such packets from now
     * on.
     */
    private boolean isLateOnly(final int packet, final long receivedNs) {
        return growingUpToNs > maximumDelayNs && packets.next(packet) == WaitingPackets.NONE &&
            waitsAsLong(difference(receivedNs, packets.timeNs(packet)));
    }

    /**
     * Extends the wait, if that is allowed and the waiting packets then fit into three quarters of the memory. Returns whether
     * the wait is as long as requested.
     */
    private boolean waitsAsLong(final long delayNs) {
        if (delayNs > growingUpToNs) {
            return false;
        }
        final long wantedNs = Math.min(growingUpToNs, 2 * delayNs);
        if (packets.size() * (double)(wantedNs + graceNs) > MOST_FULL * maxPackets * rememberedNs) {
            counters.refusedWaitNs(wantedNs);
            return false;
        }
        maximumDelayNs = Math.max(maximumDelayNs, wantedNs);
        rememberedNs = maximumDelayNs + graceNs;
        counters.waitNs(maximumDelayNs);
        return true;
    }

    /**
     * Matches one flow in so many from now on, a power of two up to {@link SegmentFlows#MOST_ONE_IN}. Packets of the other flows
     * are undecided, as if they had been missed.
     */
    public void matchOneIn(final int oneIn, final long nowNs) {
        flows.matchOneIn(oneIn);
        onSenderGap(nowNs);
        onReceiverGap(nowNs);
    }

    /** {@return whether some flows are not matched} */
    public boolean isPartial() {
        return flows.matchedOneIn() > 1;
    }

    /** {@return packets that are remembered now} */
    public int size() {
        return packets.size();
    }

    private void onMatched(
        final int slot, final int flow, final long senderTag, final long receiverTag, final long sentNs,
        final long receivedNs) {
        delayNs = receivedNs - sentNs;
        digests.onMatched(slot, sentNs);
        flows.onDelay(flow, delayNs);
        if (delayNs < 0) {
            counters.increment(MatchCounter.NEGATIVE);
        }
        handler.onMatched(flow, senderTag, receiverTag, sentNs, receivedNs);
    }

    /** Makes room if there is none: grows as far as allowed, then forgets decided packets early, the oldest first. */
    private void makeRoom() {
        if (packets.isFull() && packets.mayGrow()) {
            packets.grow(digests);
        }
        for (int i = 0; i < FORGET_LIMIT && packets.isFull(); i++) {
            final int packet = packets.oldest();
            final int state = packets.state(packet);
            if (state == WaitingPackets.STATE_SENT_DECIDED) {
                counters.increment(MatchCounter.FORGOTTEN);
                onSenderGap(packets.timeNs(packet));
            } else if (state != WaitingPackets.STATE_RECEIVED_DECIDED) {
                return;
            }
            decideOfOldest();
        }
    }

    /** The oldest packet is also the first in the queue of its digest, if it still waits. */
    private void decideOfOldest() {
        final int packet = packets.oldest();
        if (packets.state(packet) == WaitingPackets.STATE_SENT) {
            decideOfSent(packet);
        } else if (packets.state(packet) == WaitingPackets.STATE_RECEIVED) {
            decideOfReceived(packet);
        }
        digests.onForgotten(packets.digest(packet), packets.state(packet) == WaitingPackets.STATE_SENT_DECIDED);
        packets.removeOldest();
    }

    /** Matching has ended: {@link #finish} has decided all packets, and no further one comes. Call it once. */
    public void onEnd() {
        flows.onEnd();
    }

    /**
     * Counts a packet that is excluded from matching because an offload joined several. Such packets at one point alone are a
     * likely cause of digests that do not match.
     */
    public void onOversize(final boolean isSent) {
        counters.increment(isSent ? MatchCounter.SENT_LARGE : MatchCounter.RECEIVED_LARGE);
    }

    private void decideOfSent(final int packet) {
        final long sentNs = packets.timeNs(packet);
        final int flow = packets.flow(packet);
        if (hasReceiverGap && difference(sentNs, receiverGapNs) <= maximumLeadNs || flows.isJoined(flow)) {
            leaveSent(packet, MatchCounter.SENT_UNDECIDED);
            flows.onUndecided(flow);
        } else {
            final int slot = packets.digest(packet);
            final MatchCounter counter = handler.whenLost(flows, packets.tag(packet), flow, sentNs);
            leaveSent(packet, counter);
            if (counter == MatchCounter.SENT_UNDECIDED) {
                flows.onUndecided(flow);
                return;
            }
            if (digests.hasMatched(slot)) {
                flows.onAmbiguous(flow, Math.max(0, sentNs - digests.oldestMatchedNs(slot)));
            }
            countIfDistant(sentNs, distantReceived.timeNs(digests.digest(slot)));
            if (counter == MatchCounter.LOST) {
                handler.onLost(flow, sentNs);
            }
        }
    }

    private void decideOfReceived(final int packet) {
        final int slot = packets.digest(packet);
        final int flow = packets.flow(packet);
        final long receivedNs = packets.timeNs(packet);
        if (digests.hasMatched(slot) && difference(receivedNs, digests.newestMatchedNs(slot)) <= maximumDelayNs) {
            leaveReceived(packet, MatchCounter.DUPLICATES);
            flows.onDuplicate(flow);
            handler.onDuplicate(packets.tag(packet), receivedNs);
        } else if (hasSenderGap && difference(receivedNs, senderGapNs) <= maximumDelayNs || flows.isJoined(flow)) {
            leaveReceived(packet, MatchCounter.RECEIVED_UNDECIDED);
            flows.onUndecided(flow);
        } else {
            leaveReceived(packet, MatchCounter.UNEXPECTED);
            flows.onUnexpected(flow);
            countIfDistant(distantSent.timeNs(digests.digest(slot)), receivedNs);
            handler.onUnexpected(packets.tag(packet), receivedNs);
        }
    }

    /** Counts an unmatched packet if the other point saw it at a distant time. */
    private void countIfDistant(final long sentNs, final long receivedNs) {
        if (sentNs != DistantDigests.UNKNOWN && receivedNs != DistantDigests.UNKNOWN) {
            final long distanceNs = difference(receivedNs, sentNs);
            if (distanceNs > maximumDelayNs || distanceNs < -maximumLeadNs) {
                counters.onDistant(distanceNs);
                if (distanceNs > maximumDelayNs && growingUpToNs > maximumDelayNs &&
                    counters.get(MatchCounter.DISTANT) >= SURE_DISTANT) {
                    waitsAsLong(distanceNs);
                }
            }
        }
    }

    private void leaveSent(final int packet, final MatchCounter counter) {
        digests.popSent(packets.digest(packet));
        packets.state(packet, WaitingPackets.STATE_SENT_DECIDED);
        counters.add(MatchCounter.SENT_WAITING, -1);
        counters.increment(counter);
        flows.onDecided(packets.flow(packet));
    }

    private void leaveReceived(final int packet, final MatchCounter counter) {
        digests.popReceived(packets.digest(packet));
        packets.state(packet, WaitingPackets.STATE_RECEIVED_DECIDED);
        counters.add(MatchCounter.RECEIVED_WAITING, -1);
        counters.increment(counter);
        flows.onDecided(packets.flow(packet));
    }

    /** The difference a - b, saturated; packets so far apart never match. */
    private static long difference(final long a, final long b) {
        final long difference = a - b;
        return ((a ^ b) & (a ^ difference)) < 0 ? (a < 0 ? Long.MIN_VALUE : Long.MAX_VALUE) : difference;
    }
}

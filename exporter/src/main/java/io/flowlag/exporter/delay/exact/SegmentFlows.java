package io.flowlag.exporter.delay.exact;

import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.decode.FlowKeyLayout;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.rli.counters.DelayCounters;
import org.agrona.DirectBuffer;

import java.security.SecureRandom;
import java.util.SplittableRandom;

/**
 * The results of exact matching for each flow of a segment. A flow is a 5-tuple here, whatever else the key of the flow cache
 * holds; keys are compared in full. Each flow has three cache lines:
 * <pre>
 *   0  5-tuple                 38   see {@link FlowKeyLayout}; IP version 0: no flow in this slot
 *  38  flags                    1   FLAG_JOINED: an offload joined packets of it; FLAG_TWINS: packets of it had one digest
 *  39  segment                  1   one more than the index of the segment of its packets, of several; 0 if none is known
 *  40  sent                     8   packets with a digest at the sender point
 *  48  received                 8   packets with a digest at the receiver point
 *  56  lost                     8
 *  64  unexpected               8
 *  72  duplicates               8
 *  80  undecided                8   of both points
 *  88  lostTaken                8   of these, told of in flow records
 *  96  unexpectedTaken          8
 * 104  undecidedTaken           8
 * 112  newestNs                 8   largest time of its packets
 * 120  waitingCount             4   packets that wait in the matcher
 * 124  tag                      4   part of the key's hash; in a free slot, the next free one
 * 128  DelayCounters           48   of its matched packets
 * 176  ambiguousNs              8   how much too large the sum of its delays may be: of two twins one was lost
 * 184  ambiguousTakenNs         8   of it, told of in flow records
 * </pre>
 * The matcher's thread owns the table. Allocates at construction, off-heap; the memory of slots that were never used stays
 * untouched.
 */
public final class SegmentFlows {
    public static final int NO_FLOW = -1;
    /** The largest table: flows are addressed by int. */
    public static final int MAX_FLOWS = 8 * 1024 * 1024;
    /** For the time after which silent flows are forgotten: never. */
    public static final long NEVER_NS = Long.MAX_VALUE;
    /** The flow of a packet whose flow is not matched. */
    static final int NOT_SAMPLED = -2;
    /** The smallest share of matched flows is one in this number. */
    public static final int MOST_ONE_IN = 1 << 12;

    private static final int SAMPLE_SHIFT = Integer.SIZE - 12;
    private static final int SWEEP_SLOTS = 16;
    /** For {@link #segment}: no packet of the flow told a segment. */
    public static final int NO_SEGMENT = -1;
    /** For {@link #segment}: its packets are of several segments. Indexes are below. */
    public static final int SEVERAL_SEGMENTS = 254;

    private static final int FLAG_JOINED = 1;
    private static final int FLAG_TWINS = 1 << 1;
    private static final int FLAGS_OFFSET = FlowKeyLayout.TUPLE_LENGTH_BYTES;
    private static final int SEGMENT_OFFSET = FLAGS_OFFSET + 1;
    private static final int SENT_OFFSET = SEGMENT_OFFSET + 1;
    private static final int RECEIVED_OFFSET = SENT_OFFSET + 8;
    private static final int LOST_OFFSET = RECEIVED_OFFSET + 8;
    private static final int UNEXPECTED_OFFSET = LOST_OFFSET + 8;
    private static final int DUPLICATES_OFFSET = UNEXPECTED_OFFSET + 8;
    private static final int UNDECIDED_OFFSET = DUPLICATES_OFFSET + 8;
    private static final int LOST_TAKEN_OFFSET = UNDECIDED_OFFSET + 8;
    private static final int UNEXPECTED_TAKEN_OFFSET = LOST_TAKEN_OFFSET + 8;
    private static final int UNDECIDED_TAKEN_OFFSET = UNEXPECTED_TAKEN_OFFSET + 8;
    private static final int NEWEST_NS_OFFSET = UNDECIDED_TAKEN_OFFSET + 8;
    private static final int WAITING_COUNT_OFFSET = NEWEST_NS_OFFSET + 8;
    private static final int TAG_OFFSET = WAITING_COUNT_OFFSET + 4;
    private static final int DELAY_OFFSET = TAG_OFFSET + 4;
    private static final int AMBIGUOUS_NS_OFFSET = DELAY_OFFSET + DelayCounters.USED_BYTES;
    private static final int AMBIGUOUS_TAKEN_NS_OFFSET = AMBIGUOUS_NS_OFFSET + 8;
    private static final int FLOW_LENGTH_BYTES = DELAY_OFFSET + DelayCounters.LENGTH_BYTES;

    private final int capacity;
    private final long silenceNs;
    private final long sweepEveryNs;
    private final boolean isUnseenLost;
    private final int[] touchedTags = new int[FlowCache.TOUCH_LIMIT];
    private final SlotIndex index;
    private final OffHeapBuffer flows;
    private final MatchCounters counters = new MatchCounters();
    private final long addressSecret;
    private final long destinationSecret;
    private final long highSecret;
    private final long portsSecret;
    private int sampleMask;
    private int freeHead = NO_FLOW;
    private int usedSlots;
    private int hand;
    private long nextSweepNs = Long.MIN_VALUE;
    private long keySourceHigh;
    private long keySourceLow;
    private long keyDestinationHigh;
    private long keyDestinationLow;
    private long keyPorts;

    /** No flows yet; packets of flows that the receiver point never saw are lost. */
    public SegmentFlows(final int maxFlows, final long silenceNs) {
        this(maxFlows, silenceNs, true);
    }

    /**
     * No flows yet.
     *
     * @param maxFlows     how many there are at most, 1 to {@link #MAX_FLOWS}; further ones are counted and have no flow.
     * @param silenceNs    after what time without a packet a flow is forgotten, more than 0; {@link #NEVER_NS} for a truth file.
     * @param isUnseenLost whether packets of flows that the receiver point never saw are lost; else they are not of the segment.
     */
    public SegmentFlows(final int maxFlows, final long silenceNs, final boolean isUnseenLost) {
        if (maxFlows < 1 || maxFlows > MAX_FLOWS) {
            throw new IllegalArgumentException("maxFlows=" + maxFlows + " is not within 1.." + MAX_FLOWS);
        }
        if (silenceNs <= 0) {
            throw new IllegalArgumentException("silenceNs=" + silenceNs + " is not more than 0");
        }
        capacity = maxFlows;
        this.silenceNs = silenceNs;
        this.isUnseenLost = isUnseenLost;
        sweepEveryNs = (long)((double)silenceNs / maxFlows * SWEEP_SLOTS);
        index = new SlotIndex(maxFlows);
        flows = OffHeapBuffer.allocateUntouched(maxFlows * FLOW_LENGTH_BYTES);
        final SplittableRandom random = new SplittableRandom(new SecureRandom().nextLong());
        addressSecret = random.nextLong();
        destinationSecret = random.nextLong();
        highSecret = random.nextLong();
        portsSecret = random.nextLong();
    }

    /** {@return octets off the heap of a table of so many flows} */
    public static long memoryBytes(final int maxFlows) {
        return (long)maxFlows * FLOW_LENGTH_BYTES + SlotIndex.memoryBytes(maxFlows);
    }

    /** {@return the counters of the flows and of the matcher that uses them} */
    public MatchCounters counters() {
        return counters;
    }

    /** {@return the slots that ever held a flow: every flow is a number below it} */
    public int limit() {
        return usedSlots;
    }

    /** Whether a number below {@link #limit()} is that of a flow. */
    public boolean isLive(final int flow) {
        return ipVersion(flow) != 0;
    }

    int find(final DirectBuffer descriptor, final int offset) {
        wrap(descriptor, offset);
        return find(tagOfKey());
    }

    /**
     * The flow of an entry of the flow cache, which may be one of several of the same 5-tuple. Returns the flow, {@link
     * #NO_FLOW}, or {@link #NOT_SAMPLED}.
     */
    public int findOfEntry(final DirectBuffer entries, final int offset) {
        wrap(entries, offset);
        final int tag = tagOfKey();
        return isSampled(tag) ? find(tag) : NOT_SAMPLED;
    }

    /** {@return the flow of the opposite direction, or {@link #NO_FLOW}} */
    public int findReverse(final int flow) {
        keySourceHigh = destinationHigh(flow);
        keySourceLow = destinationLow(flow);
        keyDestinationHigh = sourceHigh(flow);
        keyDestinationLow = sourceLow(flow);
        keyPorts = ports(destinationPort(flow), sourcePort(flow), protocol(flow), ipVersion(flow));
        return find(tagOfKey());
    }

    /** Takes the lost packets that are in no record yet. */
    public long takeLost(final int flow) {
        return take(flow, LOST_OFFSET, LOST_TAKEN_OFFSET);
    }

    /** Takes the unexpected packets that are in no record yet. */
    public long takeUnexpected(final int flow) {
        return take(flow, UNEXPECTED_OFFSET, UNEXPECTED_TAKEN_OFFSET);
    }

    /** Takes the undecided packets that are in no record yet: lost and unexpected ones of that time are lower bounds then. */
    public long takeUndecided(final int flow) {
        return take(flow, UNDECIDED_OFFSET, UNDECIDED_TAKEN_OFFSET);
    }

    /**
     * Takes the possible excess, in ns, of the sum of the flow's delays that is in no record yet: of two packets with one digest
     * one was lost, and it is not known which.
     */
    public long takeAmbiguousNs(final int flow) {
        return take(flow, AMBIGUOUS_NS_OFFSET, AMBIGUOUS_TAKEN_NS_OFFSET);
    }

    public long sent(final int flow) {
        return getLong(flow, SENT_OFFSET);
    }

    public long received(final int flow) {
        return getLong(flow, RECEIVED_OFFSET);
    }

    public long lost(final int flow) {
        return getLong(flow, LOST_OFFSET);
    }

    public long unexpected(final int flow) {
        return getLong(flow, UNEXPECTED_OFFSET);
    }

    public long duplicates(final int flow) {
        return getLong(flow, DUPLICATES_OFFSET);
    }

    /** {@return packets, of either point, that did not match for reasons of this process} */
    public long undecided(final int flow) {
        return getLong(flow, UNDECIDED_OFFSET);
    }

    public int waitingCount(final int flow) {
        return flows.getInt(flow * FLOW_LENGTH_BYTES + WAITING_COUNT_OFFSET);
    }

    /** The version of a flow's addresses: 4 or 6; 0 if there is no such flow. */
    public int ipVersion(final int flow) {
        return FlowKeyLayout.ipVersion(flows, flow * FLOW_LENGTH_BYTES);
    }

    public int protocol(final int flow) {
        return FlowKeyLayout.protocol(flows, flow * FLOW_LENGTH_BYTES);
    }

    public int sourcePort(final int flow) {
        return FlowKeyLayout.sourcePort(flows, flow * FLOW_LENGTH_BYTES);
    }

    public int destinationPort(final int flow) {
        return FlowKeyLayout.destinationPort(flows, flow * FLOW_LENGTH_BYTES);
    }

    public long sourceHigh(final int flow) {
        return FlowKeyLayout.sourceHigh(flows, flow * FLOW_LENGTH_BYTES);
    }

    public long sourceLow(final int flow) {
        return FlowKeyLayout.sourceLow(flows, flow * FLOW_LENGTH_BYTES);
    }

    public long destinationHigh(final int flow) {
        return FlowKeyLayout.destinationHigh(flows, flow * FLOW_LENGTH_BYTES);
    }

    public long destinationLow(final int flow) {
        return FlowKeyLayout.destinationLow(flows, flow * FLOW_LENGTH_BYTES);
    }

    /** {@return the memory that holds the {@link DelayCounters} of all flows, to be read by the owner} */
    public DirectBuffer delayBuffer() {
        return flows;
    }

    /** Where the {@link DelayCounters} of a flow are. Returns the offset in {@link #delayBuffer()}. */
    public int delayOffset(final int flow) {
        return flow * FLOW_LENGTH_BYTES + DELAY_OFFSET;
    }

    /** Counts a packet at the sender point. Returns its flow, NO_FLOW if the table is full, or NOT_SAMPLED. */
    int onSent(final DirectBuffer descriptor, final int offset) {
        final int flow = findOrCreate(descriptor, offset);
        if (flow < 0) {
            counters.increment(flow == NO_FLOW ? MatchCounter.SENT_WITHOUT_FLOW : MatchCounter.SENT_NOT_SAMPLED);
        } else {
            count(flow, SENT_OFFSET);
        }
        return flow;
    }

    /** Counts a packet at the receiver point. Returns its flow, NO_FLOW if the table is full, or NOT_SAMPLED. */
    int onReceived(final DirectBuffer descriptor, final int offset) {
        final int flow = findOrCreate(descriptor, offset);
        if (flow < 0) {
            counters.increment(flow == NO_FLOW ? MatchCounter.RECEIVED_WITHOUT_FLOW : MatchCounter.RECEIVED_NOT_SAMPLED);
        } else {
            if (!isUnseenLost && received(flow) == 0) {
                onFirstReceived(flow);
            }
            count(flow, RECEIVED_OFFSET);
        }
        return flow;
    }

    /** Prefetches the flows of the next packets. Changes nothing. */
    long touch(final DirectBuffer descriptors, final int offset, final int count) {
        long octets = 0;
        for (int i = 0; i < count; i++) {
            wrap(descriptors, offset + i * PacketDescriptor.LENGTH_BYTES);
            touchedTags[i] = tagOfKey();
            octets += index.touch(touchedTags[i]);
        }
        for (int i = 0; i < count; i++) {
            final int position = index.first(touchedTags[i]);
            if (position != SlotIndex.NONE) {
                final int flow = index.slot(position);
                octets += sourceHigh(flow) + getLong(flow, NEWEST_NS_OFFSET) + getLong(flow, DELAY_OFFSET);
            }
        }
        return octets;
    }

    void onWaiting(final int flow) {
        addWaiting(flow, 1);
    }

    void onDecided(final int flow) {
        addWaiting(flow, -1);
    }

    void onDelay(final int flow, final long delayNs) {
        if (flow != NO_FLOW) {
            DelayCounters.record(flows, delayOffset(flow), delayNs);
        }
    }

    /** Counts a sent packet of a flow that did not arrive. Returns the counter of the packet. */
    public MatchCounter onLost(final int flow) {
        countIfAny(flow, LOST_OFFSET);
        if (flow != NO_FLOW && received(flow) > 0) {
            counters.increment(MatchCounter.LOST_OF_SEEN_FLOW);
            return MatchCounter.LOST;
        }
        return isUnseenLost || flow == NO_FLOW ? MatchCounter.LOST : MatchCounter.NOT_OF_SEGMENT;
    }

    /** The flow is confirmed as part of the segment, and so are its packets that did not arrive. */
    private void onFirstReceived(final int flow) {
        counters.add(MatchCounter.NOT_OF_SEGMENT, -lost(flow));
        counters.add(MatchCounter.LOST, lost(flow));
    }

    void onTwin(final int flow) {
        counters.increment(MatchCounter.TWINS);
        if (flow != NO_FLOW) {
            addFlag(flow, FLAG_TWINS);
        }
    }

    /**
     * Whether each delay of a flow that is in no record yet belongs to its packet. Returns false if a twin was lost, or one of
     * those that wait may be.
     */
    public boolean isUnambiguous(final int flow) {
        return getLong(flow, AMBIGUOUS_NS_OFFSET) == getLong(flow, AMBIGUOUS_TAKEN_NS_OFFSET) &&
            (waitingCount(flow) == 0 || !hasFlag(flow, FLAG_TWINS));
    }

    void onAmbiguous(final int flow, final long spanNs) {
        counters.increment(MatchCounter.AMBIGUOUS);
        if (flow != NO_FLOW) {
            flows.putLong(flow * FLOW_LENGTH_BYTES + AMBIGUOUS_NS_OFFSET, getLong(flow, AMBIGUOUS_NS_OFFSET) + spanNs);
        }
    }

    /**
     * Matches flows by the hash of their key: one in so many, a power of two up to MOST_ONE_IN. A larger share contains every
     * smaller one.
     */
    public void matchOneIn(final int oneIn) {
        sampleMask = oneIn - 1;
        counters.sampleMask(sampleMask);
    }

    /** {@return of how many flows one is matched} */
    int matchedOneIn() {
        return sampleMask + 1;
    }

    private boolean isSampled(final int tag) {
        return (tag >>> SAMPLE_SHIFT & sampleMask) == 0;
    }

    void onUnexpected(final int flow) {
        countIfAny(flow, UNEXPECTED_OFFSET);
    }

    void onDuplicate(final int flow) {
        countIfAny(flow, DUPLICATES_OFFSET);
    }

    void onJoined(final int flow) {
        if (flow != NO_FLOW) {
            addFlag(flow, FLAG_JOINED);
        }
    }

    /** Whether an offload joined packets of a flow: then unmatched packets of one point mean nothing. */
    boolean isJoined(final int flow) {
        return flow != NO_FLOW && hasFlag(flow, FLAG_JOINED);
    }

    private boolean hasFlag(final int flow, final int flag) {
        return (flows.getByte(flow * FLOW_LENGTH_BYTES + FLAGS_OFFSET) & flag) != 0;
    }

    private void addFlag(final int flow, final int flag) {
        final int offset = flow * FLOW_LENGTH_BYTES + FLAGS_OFFSET;
        flows.putByte(offset, (byte)(flows.getByte(offset) | flag));
    }

    /** Reads the index of the segment of a flow's packets, {@link #NO_SEGMENT} or {@link #SEVERAL_SEGMENTS}. */
    public int segment(final int flow) {
        return (flows.getByte(flow * FLOW_LENGTH_BYTES + SEGMENT_OFFSET) & 0xFF) - 1;
    }

    /** A packet of a flow told its segment; or {@link #NO_SEGMENT}, to forget what they told. */
    public void onSegment(final int flow, final int segment) {
        final int before = flow == NO_FLOW ? segment : segment(flow);
        if (before != segment) {
            final boolean isOne = before == NO_SEGMENT || segment == NO_SEGMENT;
            flows.putByte(flow * FLOW_LENGTH_BYTES + SEGMENT_OFFSET, (byte)(isOne ? segment + 1 : SEVERAL_SEGMENTS + 1));
        }
    }

    void onUndecided(final int flow) {
        countIfAny(flow, UNDECIDED_OFFSET);
    }

    /**
     * Forgets flows that were silent for too long, unless silence is unlimited. Checks a few slots per call, and all of them
     * about once in the time of silence.
     */
    void expire(final long nowNs) {
        if (silenceNs != NEVER_NS && nowNs >= nextSweepNs) {
            nextSweepNs = nowNs + sweepEveryNs;
            sweep(nowNs, SWEEP_SLOTS);
        }
    }

    void sweep(final long nowNs, final int slots) {
        for (int i = 0; i < slots && usedSlots > 0; i++) {
            hand = hand + 1 >= usedSlots ? 0 : hand + 1;
            if (isLive(hand) && waitingCount(hand) == 0 && nowNs - getLong(hand, NEWEST_NS_OFFSET) > silenceNs) {
                remove(hand);
            }
        }
    }

    private int findOrCreate(final DirectBuffer descriptor, final int offset) {
        wrap(descriptor, offset);
        final int tag = tagOfKey();
        if (!isSampled(tag)) {
            return NOT_SAMPLED;
        }
        int flow = find(tag);
        if (flow == NO_FLOW) {
            flow = create(tag, descriptor, offset);
        }
        if (flow != NO_FLOW) {
            final long timestampNs = PacketDescriptor.timestampNs(descriptor, offset);
            if (timestampNs > getLong(flow, NEWEST_NS_OFFSET)) {
                flows.putLong(flow * FLOW_LENGTH_BYTES + NEWEST_NS_OFFSET, timestampNs);
            }
        }
        return flow;
    }

    private int find(final int tag) {
        int position = index.first(tag);
        while (position != SlotIndex.NONE) {
            final int flow = index.slot(position);
            if (hasKey(flow)) {
                return flow;
            }
            position = index.next(tag, position);
        }
        return NO_FLOW;
    }

    private int create(final int tag, final DirectBuffer descriptor, final int descriptorOffset) {
        if (freeHead == NO_FLOW && usedSlots == capacity) {
            return NO_FLOW;
        }
        final int flow = freeHead == NO_FLOW ? usedSlots++ : freeHead;
        final int offset = flow * FLOW_LENGTH_BYTES;
        freeHead = freeHead == NO_FLOW ? NO_FLOW : flows.getInt(offset + TAG_OFFSET);
        flows.setMemory(offset, FLOW_LENGTH_BYTES, (byte)0);
        FlowKeyLayout.copyTuple(flows, offset, descriptor, descriptorOffset);
        flows.putLong(offset + NEWEST_NS_OFFSET, Long.MIN_VALUE);
        flows.putInt(offset + TAG_OFFSET, tag);
        index.add(tag, flow);
        counters.increment(MatchCounter.FLOWS_CREATED);
        counters.increment(MatchCounter.FLOWS);
        return flow;
    }

    /** Matching has ended: counts the flows that the receiver point never saw. The flows stay, for a truth file. Call it once. */
    void onEnd() {
        for (int flow = 0; flow < usedSlots; flow++) {
            if (isLive(flow)) {
                countIfUnseen(flow);
            }
        }
    }

    private void countIfUnseen(final int flow) {
        if (received(flow) == 0 && lost(flow) > 0) {
            counters.increment(MatchCounter.FLOWS_UNSEEN);
            counters.add(MatchCounter.LOST_OF_UNSEEN_FLOWS, isUnseenLost ? lost(flow) : 0);
        }
    }

    /** Leaves what is in no record yet out of all of them, and forgets the segment of the flow's packets. */
    public void leave(final int flow) {
        final long lost = takeLost(flow);
        counters.add(MatchCounter.LOST_UNTAKEN, isUnseenLost || received(flow) > 0 ? lost : 0);
        counters.add(MatchCounter.UNEXPECTED_UNTAKEN, takeUnexpected(flow));
        takeUndecided(flow);
        takeAmbiguousNs(flow);
        onSegment(flow, NO_SEGMENT);
    }

    private void remove(final int flow) {
        countIfUnseen(flow);
        leave(flow);
        counters.add(MatchCounter.FLOWS, -1);
        counters.increment(MatchCounter.FLOWS_REMOVED);
        final int offset = flow * FLOW_LENGTH_BYTES;
        index.remove(flows.getInt(offset + TAG_OFFSET), flow);
        FlowKeyLayout.ipVersion(flows, offset, 0);
        flows.putInt(offset + TAG_OFFSET, freeHead);
        freeHead = flow;
    }

    /** Takes the 5-tuple of a packet or of a flow. */
    private void wrap(final DirectBuffer buffer, final int offset) {
        keySourceHigh = FlowKeyLayout.sourceHigh(buffer, offset);
        keySourceLow = FlowKeyLayout.sourceLow(buffer, offset);
        keyDestinationHigh = FlowKeyLayout.destinationHigh(buffer, offset);
        keyDestinationLow = FlowKeyLayout.destinationLow(buffer, offset);
        keyPorts = ports(
            FlowKeyLayout.sourcePort(buffer, offset), FlowKeyLayout.destinationPort(buffer, offset),
            FlowKeyLayout.protocol(buffer, offset), FlowKeyLayout.ipVersion(buffer, offset));
    }

    private static long ports(final int sourcePort, final int destinationPort, final int protocol, final int ipVersion) {
        return (long)sourcePort << 32 | (long)destinationPort << 16 | (long)protocol << 8 | ipVersion;
    }

    private boolean hasKey(final int flow) {
        return sourceLow(flow) == keySourceLow && destinationLow(flow) == keyDestinationLow &&
            ports(sourcePort(flow), destinationPort(flow), protocol(flow), ipVersion(flow)) == keyPorts &&
            sourceHigh(flow) == keySourceHigh && destinationHigh(flow) == keyDestinationHigh;
    }

    /** The secrets are added, not combined by exclusive or, under which the signed product would be that of the complements. */
    private int tagOfKey() {
        final long addresses = fold(keySourceLow + addressSecret, keyDestinationLow + destinationSecret) ^
            fold(keySourceHigh + highSecret, keyDestinationHigh + portsSecret);
        return (int)(fold(addresses + highSecret, keyPorts + portsSecret) >>> 32);
    }

    /** Multiplies to 128 bits and folds the halves. */
    private static long fold(final long a, final long b) {
        return Math.multiplyHigh(a, b) ^ a * b;
    }

    private long take(final int flow, final int countOffset, final int takenOffset) {
        final long count = getLong(flow, countOffset);
        final long delta = count - getLong(flow, takenOffset);
        flows.putLong(flow * FLOW_LENGTH_BYTES + takenOffset, count);
        return delta;
    }

    private void addWaiting(final int flow, final int amount) {
        if (flow != NO_FLOW) {
            flows.putInt(flow * FLOW_LENGTH_BYTES + WAITING_COUNT_OFFSET, waitingCount(flow) + amount);
        }
    }

    private void countIfAny(final int flow, final int fieldOffset) {
        if (flow != NO_FLOW) {
            count(flow, fieldOffset);
        }
    }

    private void count(final int flow, final int fieldOffset) {
        flows.putLong(flow * FLOW_LENGTH_BYTES + fieldOffset, getLong(flow, fieldOffset) + 1);
    }

    private long getLong(final int flow, final int fieldOffset) {
        return flows.getLong(flow * FLOW_LENGTH_BYTES + fieldOffset);
    }
}

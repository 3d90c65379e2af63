package io.flowlag.rli.receiver;

import io.flowlag.rli.path.FlowPaths;
import io.flowlag.rli.path.PathEstimate;
import io.flowlag.rli.path.PathFinder;

import java.util.Arrays;

import static io.flowlag.rli.path.PathFinder.LANES;
import static io.flowlag.rli.path.PathFinder.MOST_PATHS;
import static io.flowlag.rli.path.PathFinder.NONE;

/**
 * The references of a stream by path, once there is more than one. Packets of a gap between two references, of whatever paths,
 * are estimated by each path when each path has a reference on the right of the gap; a path that has none for {@link #PATIENCE}
 * references is silent: it has no part in the mixture, and packets whose path may be silent count as not estimated. References
 * are kept for the delays of packets that become known later.
 *
 * <p>Errors of held-out references are those of each path. The error scale of a packet is that of its path; while that is not
 * known, the largest. One thread. Allocates at construction, if paths of flows are kept; else every port is of one path.
 */
public final class PathSplit {
    /** References that are kept. */
    static final int KEPT = 1 << 14;
    /** References for which a gap waits for a late path. */
    static final int PATIENCE = 4 * LANES;

    /** Share of packets without an estimate from which on a known mean of all says nothing of those with one. */
    private static final double MOST_LACKING = 0.5;

    private static final int KEPT_MASK = KEPT - 1;
    private static final long NEVER_NS = Long.MIN_VALUE / 2;
    private static final int WAITING = 1 << 10;
    private static final int WAITING_MASK = WAITING - 1;
    /** Octets of a stream whose flows' paths are kept. */
    static final int MEMORY_BYTES = PathFinder.MEMORY_BYTES + LaneErrors.MEMORY_BYTES + KEPT * (3 * Long.BYTES + 1) +
        WAITING * (3 * Integer.BYTES + 2 * Long.BYTES);

    private final int row;
    private final HeldOutErrors heldOut;
    private final ErrorScales scales;
    private final Serialisation serialisation;
    private final FlowPaths flows;
    private final PathFinder finder = new PathFinder();
    private final LaneErrors laneErrors = new LaneErrors();
    private int laneVersion;
    private boolean isLineBroken;
    private final long[] lastStampsNs = new long[LANES];

    private final long[] arrivalsNs;
    private final double[] delaysNs;
    private final byte[] lanes;
    private final long[] packetsBefore;
    private boolean isBegun;
    private int version;
    /** References so far, and the left one of the next gap. */
    private long count;
    private long gap;
    private final long[] newest = new long[MOST_PATHS];
    private final long[] lefts = new long[MOST_PATHS];
    private final long[] rights = new long[MOST_PATHS];
    private final float[] gapScalesNs = new float[MOST_PATHS];
    private final double[] shares = new double[MOST_PATHS];
    private final double[] byPathNs = new double[MOST_PATHS];
    private final double[] deviationsNs = new double[MOST_PATHS];
    /** Bits of the paths that have references on both sides of the gap. */
    private int heard;
    private final Serialisation.OctetTime[] octetTimes = new Serialisation.OctetTime[MOST_PATHS];
    private final Serialisation.OctetTime single;
    private final long[] octets = new long[MOST_PATHS];
    private float largestScaleNs;
    private long spanReferences;
    private int referenceBytes;

    private final int[] knownSlots;
    private final int[] knownGenerations;
    private final int[] knownLengthsBytes;
    private final long[] knownArrivalsNs;
    private final double[] knownDelaysNs;
    private final long[] knownLefts = new long[MOST_PATHS];
    private final long[] knownRights = new long[MOST_PATHS];
    private final float[] knownScalesNs = new float[MOST_PATHS];
    private long knownHead;
    private long knownTail;

    PathSplit(
        final int row, final HeldOutErrors heldOut, final Serialisation serialisation, final FlowPaths flows,
        final ReceiverSettings.Estimation estimation) {
        Arrays.setAll(octetTimes, i -> new Serialisation.OctetTime(estimation, 0));
        single = new Serialisation.OctetTime(estimation, estimation.capacityBps());
        this.serialisation = serialisation;
        this.row = row;
        this.heldOut = heldOut;
        scales = heldOut.scales();
        this.flows = flows;
        final int kept = flows.isOn() ? KEPT : 0;
        arrivalsNs = new long[kept];
        delaysNs = new double[kept];
        lanes = new byte[kept];
        packetsBefore = new long[kept];
        final int waiting = flows.isOn() ? WAITING : 0;
        knownSlots = new int[waiting];
        knownGenerations = new int[waiting];
        knownLengthsBytes = new int[waiting];
        knownArrivalsNs = new long[waiting];
        knownDelaysNs = new double[waiting];
        Arrays.fill(lastStampsNs, NEVER_NS);
    }

    /** {@return whether there is one path, whose packets' transmissions are to be learned} */
    boolean isTimed() {
        return single.isOn() && finder.pathCount() == 1;
    }

    void capacityBps(final long capacityBps) {
        single.capacityBps(capacityBps);
        for (final Serialisation.OctetTime each : octetTimes) {
            each.pathCapacityBps(capacityBps);
        }
    }

    /** {@return what is known of packets' transmissions while there is one path} */
    Serialisation.OctetTime single() {
        return single;
    }

    /** The lane of a source port; none of a negative one, or if paths are not kept. */
    int lane(final int port) {
        if (port < 0 || !flows.isOn()) {
            return NONE;
        }
        final int lanesBefore = finder.laneCount();
        final int lane = finder.lane(port);
        if (finder.laneCount() > lanesBefore) {
            lastStampsNs[lane] = NEVER_NS;
        }
        return lane;
    }

    /** {@return whether references of several lanes come, which may overtake one another} */
    boolean hasLanes() {
        return finder.laneCount() > 1;
    }

    /** Keeps a lane's newest stamp. Returns the one before, or one long ago. */
    long stampNs(final int lane, final long stampNs) {
        final long beforeNs = lastStampsNs[lane];
        lastStampsNs[lane] = stampNs;
        return beforeNs;
    }

    /** The sender has restarted: its ports are other ones. */
    void forget() {
        finder.forget();
        restart();
    }

    /** Nothing is estimated between references before and after. */
    void restart() {
        count = 0;
        gap = 0;
        isLineBroken = true;
        knownHead = knownTail;
        Arrays.fill(octets, 0);
        for (final Serialisation.OctetTime each : octetTimes) {
            each.reset();
        }
        Arrays.fill(lastStampsNs, NEVER_NS);
        Arrays.fill(newest, NONE);
        Arrays.fill(lefts, NONE);
        Arrays.fill(rights, NONE);
    }

    /** {@return whether packets are estimated by path: each path has a reference on the left of the next gap} */
    boolean isReady() {
        for (int path = 0; path < finder.pathCount(); path++) {
            if (!isBegun || lefts[path] == NONE) {
                return false;
            }
        }
        return finder.pathCount() > 1;
    }

    /**
     * Takes a settled reference.
     *
     * @param sequenceNumber of the stream; ports are used in blocks of {@link PathFinder#LANES} numbers.
     * @param delayNs        without its own transmission time.
     * @param packetCount    of the stream so far.
     */
    void onReference(
        final int lane, final int sequenceNumber, final long arrivalNs, final double delayNs, final int lengthBytes,
        final long packetCount) {
        if (lane == NONE) {
            return;
        }
        finder.onReference(lane, Integer.toUnsignedLong(sequenceNumber) / LANES, arrivalNs, delayNs);
        if (hasLanes()) {
            onLane(lane, arrivalNs, delayNs);
        }
        if (finder.pathCount() == 1 && !isBegun) {
            return;
        }
        isBegun = true;
        final int index = (int)count & KEPT_MASK;
        arrivalsNs[index] = arrivalNs;
        delaysNs[index] = delayNs;
        lanes[index] = (byte)lane;
        packetsBefore[index] = packetCount;
        final long position = count++;
        gap = Math.max(gap, count - KEPT);
        if (version != finder.version()) {
            divide();
        }
        referenceBytes = lengthBytes;
        octetTimes[finder.path(lane)].onDelay(delayNs);
        holdOut(position, lengthBytes);
        newest[finder.path(lane)] = position;
        if (!isReady()) {
            gap = position;
            lefts[finder.path(lane)] = position;
        }
    }

    private void onLane(final int lane, final long arrivalNs, final double delayNs) {
        if (laneVersion != finder.version()) {
            laneVersion = finder.version();
            laneErrors.forget();
        } else if (isLineBroken) {
            laneErrors.restart();
        }
        isLineBroken = false;
        laneErrors.onReference(finder.path(lane), lane, arrivalNs, delayNs);
    }

    /** Lanes have changed their paths: looks at the references from the left one of the next gap on once more. */
    private void divide() {
        version = finder.version();
        heldOut.forget();
        double leastShare = 1;
        for (int path = 0; path < MOST_PATHS; path++) {
            shares[path] = path < finder.pathCount() ? finder.share(path) : 0;
            leastShare = path < finder.pathCount() ? Math.min(leastShare, shares[path]) : leastShare;
            lefts[path] = before(path, Math.min(gap, count - 2));
            newest[path] = before(path, count - 2);
            rights[path] = NONE;
            octetTimes[path].reset();
        }
        Arrays.fill(octets, 0);
        spanReferences = Math.round(2 / leastShare);
    }

    private int path(final long position) {
        return finder.path(lanes[(int)position & KEPT_MASK]);
    }

    private long before(final int path, final long from) {
        final long least = Math.max(0, count - KEPT);
        for (long position = from; position >= least && from - position <= PATIENCE; position--) {
            if (path(position) == path) {
                return position;
            }
        }
        return NONE;
    }

    private long after(final int path, final long from) {
        for (long position = from; position < count && position - from <= PATIENCE; position++) {
            if (path(position) == path) {
                return position;
            }
        }
        return NONE;
    }

    /** Holds out the last reference of the new one's path: interpolates it from the one before and the new one. */
    private void holdOut(final long to, final int lengthBytes) {
        final int path = path(to);
        final long middle = newest[path];
        final long from = middle == NONE ? NONE : before(path, middle - 1);
        if (from != NONE && finder.pathCount() > 1) {
            final double errorNs = delayNs(middle) - between(from, to, arrivalNs(middle));
            final long packets = packetsBefore[(int)to & KEPT_MASK] - packetsBefore[(int)from & KEPT_MASK];
            heldOut.record(
                errorNs, Math.round(delayNs(middle)), lengthBytes, 0, Math.round(packets * shares[path]), kind(from, to));
        }
    }

    private int kind(final long from, final long to) {
        return scales.kind(arrivalNs(to) - arrivalNs(from) - (delayNs(to) - delayNs(from)), delayNs(from), delayNs(to));
    }

    private long arrivalNs(final long position) {
        return arrivalsNs[(int)position & KEPT_MASK];
    }

    private double delayNs(final long position) {
        return delaysNs[(int)position & KEPT_MASK];
    }

    /** The delay at a time between two references, or that of the one there is; NaN without any. */
    private double between(final long from, final long to, final long timeNs) {
        if (from == NONE || to == NONE) {
            return from == to ? Double.NaN : delayNs(from == NONE ? to : from);
        }
        final double gapNs = arrivalNs(to) - arrivalNs(from);
        final double weight = gapNs > 0 ? Math.max(0, Math.min(1, (timeNs - arrivalNs(from)) / gapNs)) : 0;
        return delayNs(from) + weight * (delayNs(to) - delayNs(from));
    }

    /** Goes on to the next gap. Returns false if a path has no reference on its right yet, and may have. */
    boolean advance(final boolean isPatient) {
        if (gap + 1 >= count) {
            return false;
        }
        final boolean isOver = !isPatient || count - gap > PATIENCE;
        for (int path = 0; path < finder.pathCount(); path++) {
            if (newest[path] <= gap && !isOver) {
                return false;
            }
        }
        learnOctetTime(path(gap));
        largestScaleNs = 0;
        heard = 0;
        for (int path = 0; path < finder.pathCount(); path++) {
            lefts[path] = path(gap) == path ? gap : lefts[path];
            if (rights[path] <= gap) {
                rights[path] = after(path, gap + 1);
            }
            gapScalesNs[path] = lefts[path] == NONE || rights[path] == NONE ? 0 :
                scales.scaleNs(kind(lefts[path], rights[path]));
            largestScaleNs = Math.max(largestScaleNs, gapScalesNs[path]);
            heard |= rights[path] != NONE && gap - lefts[path] <= PATIENCE ? 1 << path : 0;
        }
        gap++;
        takeKnown(arrivalNs(gap));
        return true;
    }

    /** The packets up to the left reference of the gap are estimated: it ends a gap of its own path. */
    private void learnOctetTime(final int path) {
        final long from = lefts[path];
        if (from != NONE && from < gap) {
            octetTimes[path].onGap(
                arrivalNs(gap) - arrivalNs(from), delayNs(from), delayNs(gap), octets[path] + referenceBytes);
            double mostNs = 0;
            for (int i = 0; i < finder.pathCount(); i++) {
                mostNs = Math.max(mostNs, octetTimes[i].doubtNsPerByte());
            }
            heldOut.octetTime(mostNs, octetTimes[path].isCapacityKnown());
        }
        octets[path] = 0;
    }

    /** {@return when the right reference of the gap came} */
    long gapEndNs() {
        return arrivalNs(gap);
    }

    /** Estimates the oldest packets, which lie in the gap. Returns how many delays are negative. */
    int estimate(
        final DelaySamples samples, final InterpolationBuffer packets, final int packetCount, final double nsPerByte) {
        samples.begin(packetCount, gap / Math.max(1, spanReferences), largestScaleNs);
        int negativeCount = 0;
        for (int i = 0; i < packetCount; i++) {
            final double extraNs = nsPerByte * packets.lengthBytes(i);
            final double mixedNs = byPath(packets.arrivalNs(i), packets.lengthBytes(i), lefts, rights, heard, extraNs);
            final int path = flows.onSample(
                flows.enter(packets.slot(i), packets.generation(i), row, finder), finder, byPathNs, heard);
            final long delayNs = Math.round(path == NONE ? mixedNs : byPathNs[path]);
            samples.put(i, delayNs, path == NONE ? largestScaleNs : gapScalesNs[path]);
            if (path != NONE) {
                octets[path] += packets.lengthBytes(i);
            }
            negativeCount += (int)(delayNs >>> Long.SIZE - 1);
        }
        return negativeCount;
    }

    /** The delays by each path; a path that is not heard, if any is, has the mixture's. Returns the mixture's. */
    private double byPath(
        final long timeNs, final int lengthBytes, final long[] from, final long[] to, final int paths, final double extraNs) {
        double sum = 0;
        double weights = 0;
        for (int path = 0; path < finder.pathCount(); path++) {
            final double lineNs = between(from[path], to[path], timeNs);
            byPathNs[path] = lineNs + extraNs + (
                octetTimes[path].isLearned() ? octetTimes[path].addedNs(lengthBytes - referenceBytes, lineNs) : 0);
            if (paths != 0 && (paths & 1 << path) == 0) {
                byPathNs[path] = Double.NaN;
            }
            if (!Double.isNaN(byPathNs[path])) {
                sum += shares[path] * byPathNs[path];
                weights += shares[path];
            }
        }
        final double mixedNs = sum / weights;
        for (int path = 0; path < finder.pathCount(); path++) {
            byPathNs[path] = Double.isNaN(byPathNs[path]) ? mixedNs : byPathNs[path];
        }
        return mixedNs;
    }

    /** {@return whether the known delay of a packet is of use} */
    public boolean wantsKnown() {
        return finder.pathCount() > 1 || single.wantsKnown();
    }

    /**
     * The delay of a packet of a flow is known, before or after the packet's estimate: evidence of the flow's path. Ignored if
     * it is too old, or too many wait for their references.
     */
    public void onKnown(
        final int slot, final int generation, final int lengthBytes, final long arrivalNs, final long knownDelayNs) {
        if (!isReady()) {
            if (single.wantsKnown()) {
                single.keep(arrivalNs, knownDelayNs, lengthBytes);
            }
            return;
        }
        final double delayNs = knownDelayNs - serialisation.nsPerByte() * lengthBytes;
        if (arrivalNs <= arrivalNs(gap)) {
            know(slot, generation, lengthBytes, arrivalNs, delayNs);
        } else if (knownTail - knownHead < WAITING) {
            final int index = (int)knownTail++ & WAITING_MASK;
            knownSlots[index] = slot;
            knownGenerations[index] = generation;
            knownLengthsBytes[index] = lengthBytes;
            knownArrivalsNs[index] = arrivalNs;
            knownDelaysNs[index] = delayNs;
        }
    }

    /**
     * The mean delay of all packets of a flow is known, by more than references: evidence of its path. Packets that lack an
     * estimate, less than half of them, may be off as delays of references deviate.
     *
     * @param scaleNs    of the mean's error.
     * @param ownScaleNs of the error of the mean by references; NaN if unknown.
     */
    public void onMean(
        final int slot, final int generation, final long packets, final double meanNs, final double scaleNs,
        final double ownScaleNs) {
        final int offset = finder.pathCount() > 1 && heldOut.count() > 0 ? flows.find(slot, generation, row, finder) : NONE;
        final double lacking = Math.abs(1 - (double)flows.samples(offset) / packets);
        if (lacking < MOST_LACKING) {
            final double ownNs = Math.hypot(
                Double.isNaN(ownScaleNs) ? scales.meanNs() : ownScaleNs, lacking * heldOut.delayDeviationNs());
            flows.onMean(offset, finder, meanNs, Math.hypot(scaleNs, ownNs));
        }
    }

    /** Copies what is known of a flow to another slot and generation, before its own has another flow. */
    public void copy(final int slot, final int generation, final int toSlot, final int toGeneration) {
        flows.copy(flows.find(slot, generation, row, finder), toSlot, toGeneration, row);
    }

    private void takeKnown(final long upToNs) {
        while (knownHead < knownTail && knownArrivalsNs[(int)knownHead & WAITING_MASK] <= upToNs) {
            final int index = (int)knownHead++ & WAITING_MASK;
            know(knownSlots[index], knownGenerations[index], knownLengthsBytes[index], knownArrivalsNs[index],
                knownDelaysNs[index]);
        }
    }

    private void know(
        final int slot, final int generation, final int lengthBytes, final long arrivalNs, final double delayNs) {
        long low = Math.max(0, count - KEPT);
        if (arrivalNs < arrivalNs(low) || heldOut.count() == 0) {
            return;
        }
        long high = count;
        while (high - low > 1) {
            final long middle = low + high >>> 1;
            low = arrivalNs(middle) <= arrivalNs ? middle : low;
            high = arrivalNs(middle) <= arrivalNs ? high : middle;
        }
        for (int path = 0; path < finder.pathCount(); path++) {
            knownLefts[path] = before(path, low);
            knownRights[path] = after(path, low + 1);
            final boolean isBetween = knownLefts[path] != NONE && knownRights[path] != NONE;
            knownScalesNs[path] = Math.max(1, isBetween ?
                scales.scaleNs(kind(knownLefts[path], knownRights[path])) : (float)scales.meanNs());
        }
        byPath(arrivalNs, lengthBytes, knownLefts, knownRights, 0, 0);
        final int path =
            flows.onKnown(flows.enter(slot, generation, row, finder), finder, byPathNs, knownScalesNs, delayNs);
        if (path != NONE && knownLefts[path] != NONE && knownRights[path] != NONE) {
            octetTimes[path].onKnown(
                lengthBytes - referenceBytes, delayNs - between(knownLefts[path], knownRights[path], arrivalNs));
        }
    }

    /** What is known of a flow's path, in an estimate that is returned. */
    public PathEstimate resolve(final int slot, final int generation, final PathEstimate result) {
        for (int path = 0; path < finder.pathCount(); path++) {
            deviationsNs[path] = hasLanes() ? laneErrors.mostNs(path, finder) : 0;
        }
        if (finder.pathCount() > 1) {
            flows.resolve(flows.find(slot, generation, row, finder), finder, deviationsNs, result);
            return result;
        }
        return result.set(
            0, Double.NaN, deviationsNs[0], finder.isFound() ? PathEstimate.State.SINGLE : PathEstimate.State.SEARCHING);
    }

    /** {@return how many paths there are, as far as they differ; 1 until a second one is found} */
    public int count() {
        return finder.pathCount();
    }
}

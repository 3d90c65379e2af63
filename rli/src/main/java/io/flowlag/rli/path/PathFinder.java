package io.flowlag.rli.path;

import java.util.Arrays;

/**
 * Finds the paths of a network by the delays of references from several source ports. A router of equal-cost routes sends all
 * packets of one port the same way, so a port is a lane of one path. References of lanes on one path see one queue.
 *
 * <p>The sender uses its ports in blocks of {@value #LANES} references: each once, in random order. So if two lanes have one
 * path, it is chance alone which of the two had which place in a block, whatever the queue does. Two signs are then even:
 * <ul>
 *   <li>whether the delay of one is above that of the other in a block: a difference in level;</li>
 *   <li>whether it is further from a straight line between references of the one in the blocks before and after: a
 *       difference in time.</li>
 * </ul>
 * The evidence of a difference is the gain of bets on a sign at even odds, which never falls below 1 (a cumulative sum). Two
 * lanes differ once it is above e^{@value #LIMIT}, until it is below e^{@value #LIMIT_AGAIN}. The statistic of Shiryaev and
 * Roberts bounds it from above, so n blocks find a path too many with a probability of at most 1440 n e^-{@value #LIMIT}, or
 * 4e-7 n.
 *
 * <p>Paths are the groups of lanes that no difference divides, joined from single lanes by complete linkage. Paths of equal delay
 * at all times are one. The evidence is bounded, so that lanes come together again when a route changes.
 *
 * <p>One thread. Allocates at construction.
 */
public final class PathFinder {
    /** Most source ports; n of them miss one of k paths that are equally likely with a probability of at most k (1 - 1/k)^n. */
    public static final int LANES = 16;
    /** Most paths. */
    public static final int MOST_PATHS = 8;
    /** No lane, or no path. */
    public static final int NONE = -1;

    /** Octets of all fields. */
    public static final int MEMORY_BYTES;

    /** Comparisons of two lanes by each after which paths count as found: half as many again as a sure difference needs. */
    static final int ENOUGH_COMPARISONS = 64;
    static final double LIMIT = 22;
    static final double LIMIT_AGAIN = 14;
    /** Delays or errors that are as near as this are no sign: stamps of software are no better. */
    static final double RESOLUTION_NS = 1000;
    /** Lanes that have come together count as one path after some thousand blocks; until then their references are fewer. */
    static final double MOST_EVIDENCE = LIMIT + 4;
    /** How many changes of paths are remembered; a power of two. */
    static final int VERSIONS = 32;

    private static final double[] STAKES = {0.1, 0.3, 0.75};
    private static final double[] GAINS = Arrays.stream(STAKES).map(Math::log1p).toArray();
    private static final double[] LOSSES = Arrays.stream(STAKES).map(stake -> Math.log1p(-stake)).toArray();
    /** By direction of a pair: bets that the other is further off, and that it is higher. */
    private static final int BETS = 2 * STAKES.length;
    /** Blocks that a path may be later than another one; a power of two. */
    private static final int KEPT = 128;
    private static final int KEPT_MASK = KEPT - 1;
    /** Blocks of a lane in a row. */
    private static final int ROW = 3;
    /** A lane without a reference, while so many others came, gives way to another port; later it is gone. */
    private static final int SILENT_AFTER = 8 * LANES;
    private static final int GONE_AFTER = KEPT * LANES;

    static {
        MEMORY_BYTES = LANES * (3 * KEPT * Long.BYTES + LANES * (BETS * Double.BYTES + Integer.BYTES + 1) + 56);
    }

    private final int[] ports = new int[LANES];
    private final long[] counts = new long[LANES];
    private final long[] heardAt = new long[LANES];
    /** The newest blocks by lane, and by lane and block what came in it. */
    private final long[] rows = new long[LANES * ROW];
    private final long[] timesNs = new long[LANES * KEPT];
    private final double[] delaysNs = new double[LANES * KEPT];
    private final long[] blocks = new long[LANES * KEPT];
    /** Logarithms of the gains, by lane, other lane and bet. */
    private final double[] evidence = new double[LANES * LANES * BETS];
    private final int[] comparisons = new int[LANES * LANES];
    private final boolean[] areDifferent = new boolean[LANES * LANES];
    private final int[] paths = new int[LANES];
    private final int[] groups = new int[LANES];
    private final int[] names = new int[LANES];
    /** By version and path. */
    private final byte[] parents = new byte[VERSIONS * MOST_PATHS];
    private long references;
    private int laneCount;
    private int pathCount = 1;
    private int version;
    private boolean isFound;

    /** No lane heard. */
    public PathFinder() {
        forget();
    }

    /** All lanes are gone: the sender has restarted. */
    public void forget() {
        laneCount = 0;
        Arrays.fill(ports, NONE);
        Arrays.fill(paths, NONE);
        Arrays.fill(evidence, 0);
        Arrays.fill(comparisons, 0);
        Arrays.fill(areDifferent, false);
        pathCount = 1;
        isFound = true;
        version += VERSIONS;
    }

    /** The lane of a source port, 0 to 65535; {@link #NONE} if too many lanes are heard. */
    public int lane(final int port) {
        int free = NONE;
        for (int lane = 0; lane < LANES; lane++) {
            if (ports[lane] == port) {
                return lane;
            }
            if (free == NONE && (ports[lane] == NONE || references - heardAt[lane] > SILENT_AFTER)) {
                free = lane;
            }
        }
        if (free != NONE) {
            begin(free, port);
        }
        return free;
    }

    private void begin(final int lane, final int port) {
        laneCount += ports[lane] == NONE ? 1 : 0;
        ports[lane] = port;
        counts[lane] = 0;
        heardAt[lane] = references;
        isFound = laneCount == 1;
        Arrays.fill(blocks, lane * KEPT, (lane + 1) * KEPT, NONE);
        for (int other = 0; other < LANES; other++) {
            clear(lane, other);
            clear(other, lane);
        }
        divide();
    }

    private void forgetIfGone(final int lane) {
        if (ports[lane] != NONE && references - heardAt[lane] > GONE_AFTER) {
            ports[lane] = NONE;
            laneCount--;
            divide();
        }
    }

    private void clear(final int lane, final int other) {
        comparisons[lane * LANES + other] = 0;
        areDifferent[lane * LANES + other] = false;
        Arrays.fill(evidence, at(lane, other), at(lane, other) + BETS, 0);
    }

    /**
     * A reference of a lane; references come in order of arrival.
     *
     * @param block number of the block that the sender used the port in.
     */
    public void onReference(final int lane, final long block, final long arrivalNs, final double delayNs) {
        references++;
        heardAt[lane] = references;
        forgetIfGone((int)references & LANES - 1);
        rows[lane * ROW + (int)(counts[lane]++ % ROW)] = block;
        final int index = lane * KEPT + ((int)block & KEPT_MASK);
        timesNs[index] = arrivalNs;
        delaysNs[index] = delayNs;
        blocks[index] = block;
        if (laneCount > 1) {
            // Every second reference ends a row of three; rows share their outer references only.
            final boolean isRow = counts[lane] >= ROW && (counts[lane] & 1) == 1;
            boolean isChanged = false;
            for (int other = 0; other < LANES; other++) {
                if (other != lane && ports[other] != NONE) {
                    compareLevels(lane, other, index);
                    if (isRow) {
                        compareTimes(lane, other);
                    }
                    isChanged |= judge(lane, other);
                }
            }
            if (isChanged) {
                divide();
            }
            isFound = isFound || isEachCompared();
        }
    }

    /** The later lane of a block compares itself with the earlier ones. */
    private void compareLevels(final int lane, final int other, final int index) {
        final int before = find(other, blocks[index]);
        if (before != NONE && Math.abs(delaysNs[index] - delaysNs[before]) > RESOLUTION_NS) {
            final boolean isHigher = delaysNs[index] > delaysNs[before];
            bet(lane, other, STAKES.length, !isHigher);
            bet(other, lane, STAKES.length, isHigher);
        }
    }

    private void compareTimes(final int lane, final int other) {
        final int from = find(lane, rows[lane * ROW + (int)(counts[lane] % ROW)]);
        final long middleBlock = rows[lane * ROW + (int)((counts[lane] + 1) % ROW)];
        final int middle = find(lane, middleBlock);
        final int to = find(lane, rows[lane * ROW + (int)((counts[lane] + 2) % ROW)]);
        final int beside = find(other, middleBlock);
        if (beside != NONE && from != NONE && middle != NONE) {
            comparisons[lane * LANES + other]++;
            final double furtherNs = Math.abs(error(beside, from, to)) - Math.abs(error(middle, from, to));
            if (Math.abs(furtherNs) > RESOLUTION_NS) {
                bet(lane, other, 0, furtherNs > 0);
            }
        }
    }

    /** The reference of a lane in a block. */
    private int find(final int lane, final long block) {
        final int index = lane * KEPT + ((int)block & KEPT_MASK);
        return blocks[index] == block ? index : NONE;
    }

    private double error(final int index, final int from, final int to) {
        final double gapNs = timesNs[to] - timesNs[from];
        final double weight = gapNs > 0 ? (timesNs[index] - timesNs[from]) / gapNs : 0;
        return delaysNs[index] - delaysNs[from] - weight * (delaysNs[to] - delaysNs[from]);
    }

    private void bet(final int lane, final int other, final int from, final boolean isWon) {
        for (int i = 0; i < STAKES.length; i++) {
            final int index = at(lane, other) + from + i;
            evidence[index] = Math.min(MOST_EVIDENCE, Math.max(0, evidence[index] + (isWon ? GAINS[i] : LOSSES[i])));
        }
    }

    private static int at(final int lane, final int other) {
        return (lane * LANES + other) * BETS;
    }

    private double evidence(final int lane, final int other) {
        double most = 0;
        for (int i = 0; i < BETS; i++) {
            most = Math.max(most, Math.max(evidence[at(lane, other) + i], evidence[at(other, lane) + i]));
        }
        return most;
    }

    /** Returns whether two lanes differ, and did not, or the other way round. */
    private boolean judge(final int lane, final int other) {
        final boolean wasDifferent = areDifferent[lane * LANES + other];
        final boolean isDifferent = evidence(lane, other) > (wasDifferent ? LIMIT_AGAIN : LIMIT);
        areDifferent[lane * LANES + other] = isDifferent;
        areDifferent[other * LANES + lane] = isDifferent;
        return isDifferent != wasDifferent;
    }

    /** Joins the two groups with the least evidence between them, as long as that is no difference. */
    private void divide() {
        for (int lane = 0; lane < LANES; lane++) {
            groups[lane] = ports[lane] == NONE ? NONE : lane;
        }
        int groupCount = laneCount;
        boolean isJoined = true;
        while (isJoined) {
            isJoined = join(groupCount > MOST_PATHS ? Double.POSITIVE_INFINITY : LIMIT);
            groupCount -= isJoined ? 1 : 0;
        }
        name(Math.max(1, groupCount));
    }

    private boolean join(final double most) {
        int first = NONE;
        int second = NONE;
        double least = Double.POSITIVE_INFINITY;
        for (int one = 0; one < LANES; one++) {
            for (int two = one + 1; two < LANES && groups[one] == one; two++) {
                final double between = groups[two] == two ? between(one, two) : Double.POSITIVE_INFINITY;
                if (between < least && between <= most) {
                    first = one;
                    second = two;
                    least = between;
                }
            }
        }
        for (int lane = 0; first != NONE && lane < LANES; lane++) {
            groups[lane] = groups[lane] == second ? first : groups[lane];
        }
        return first != NONE;
    }

    /** The most evidence between two groups. */
    private double between(final int one, final int two) {
        double most = 0;
        for (int lane = 0; lane < LANES; lane++) {
            for (int other = 0; groups[lane] == one && other < LANES; other++) {
                most = groups[other] == two ? Math.max(
                    most, evidence(lane, other) + (areDifferent[lane * LANES + other] ? LIMIT : 0)) : most;
            }
        }
        return most;
    }

    /** Numbers the groups; a group is named after its first lane, so equal groups have equal numbers. */
    private void name(final int groupCount) {
        boolean isChanged = pathCount != groupCount;
        final int parentsAt = (version + 1 & VERSIONS - 1) * MOST_PATHS;
        int next = 0;
        for (int lane = 0; lane < LANES; lane++) {
            if (groups[lane] == lane) {
                parents[parentsAt + next] = (byte)Math.max(0, paths[lane]);
                names[lane] = next++;
            }
            final int path = groups[lane] == NONE ? NONE : names[groups[lane]];
            isChanged |= paths[lane] != path;
            paths[lane] = path;
        }
        pathCount = groupCount;
        version += isChanged ? 1 : 0;
    }

    /** The path of the version before that a path of a version has come from. */
    int parent(final int ofVersion, final int path) {
        return parents[(ofVersion & VERSIONS - 1) * MOST_PATHS + path];
    }

    /** {@return how many lanes have been heard} */
    public int laneCount() {
        return laneCount;
    }

    /** {@return how many paths there are, 1 to {@link #MOST_PATHS}; 1 before the first reference} */
    public int pathCount() {
        return pathCount;
    }

    /** The path of a lane, from 0 on; {@link #NONE} for a lane that is not heard. */
    public int path(final int lane) {
        return lane == NONE ? NONE : paths[lane];
    }

    /** The share of lanes that a path has: the probability that a flow takes it, if nothing else is known. */
    public double share(final int path) {
        int lanes = 0;
        for (int lane = 0; lane < LANES; lane++) {
            lanes += paths[lane] == path ? 1 : 0;
        }
        return (double)lanes / laneCount;
    }

    /** {@return a number that changes whenever lanes change their paths} */
    public int version() {
        return version;
    }

    /** {@return whether each lane was compared with each other one often enough; one lane needs no comparison} */
    public boolean isFound() {
        return isFound;
    }

    private boolean isEachCompared() {
        for (int lane = 0; lane < LANES; lane++) {
            for (int other = 0; ports[lane] != NONE && other < LANES; other++) {
                // Lanes of an early path find nothing of a late one, which compares itself with them.
                if (other != lane && ports[other] != NONE &&
                    comparisons[lane * LANES + other] + comparisons[other * LANES + lane] < 2 * ENOUGH_COMPARISONS) {
                    return false;
                }
            }
        }
        return true;
    }
}

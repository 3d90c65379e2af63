package io.flowlag.rli.path;

import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

import java.security.SecureRandom;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * What is known about the paths of flows: the sum of a flow's estimates by each path, and how well each path explains the delays
 * of those of its packets whose send times are known. A flow's path is thus decided by the time that its record is written, for
 * all its packets. By slot:
 * <pre>
 *   0  key            8   generation of the slot and stream, by a secret of this table
 *   8  count          4   samples
 *  12  knownCount     4   packets with a known delay
 *  16  sumsNs        64   doubles: sum of the estimates by each path
 *  80  fits          32   floats: logarithm of the likelihood of each path
 * 112  path           4   one more than the path, once it is as good as certain; 0 before
 * 116  bestFit        4   float: sum of the logarithm of the density, relative to its peak, of the path that was most probable
 * 120  version        4   of the paths
 * 124  earlierCount   4   samples that were taken before the paths last changed, or while the flow's path may have been silent
 * </pre>
 * An error of e in a delay with the scale s has the density of Student's distribution with three degrees of freedom: a single
 * packet never decides alone, however odd its delay. One thread. Memory of the caller may be
 * untouched: a slot is written when a flow of several paths first uses it.
 */
public final class FlowPaths {
    /** Octets a slot. */
    public static final int LENGTH_BYTES = 128;
    private static final int MOST_SLOTS = Integer.MAX_VALUE / LENGTH_BYTES;
    /** Probability from which a flow's path counts as known. */
    static final double SURE = 0.95;
    /** Probability from which the flow's mean is that by its most probable path, not that by all of them. */
    static final double PROBABLE = 0.5;
    /** The probability that no bound needs to cover: half of that of a 95 % interval. */
    static final double UNCOVERED = 0.025;

    private static final int COUNT_OFFSET = 8;
    private static final int KNOWN_COUNT_OFFSET = COUNT_OFFSET + 4;
    private static final int SUMS_NS_OFFSET = KNOWN_COUNT_OFFSET + 4;
    private static final int FITS_OFFSET = SUMS_NS_OFFSET + PathFinder.MOST_PATHS * Double.BYTES;
    private static final int PATH_OFFSET = FITS_OFFSET + PathFinder.MOST_PATHS * Float.BYTES;
    private static final int BEST_FITS_OFFSET = PATH_OFFSET + 4;
    private static final int VERSION_OFFSET = BEST_FITS_OFFSET + 4;
    private static final int EARLIER_OFFSET = VERSION_OFFSET + 4;
    private static final int NONE = -1;
    private static final double FREEDOM = 3;
    /** Mean fit of a delay that is four scales off: no path that was found explains the flow. */
    private static final double MISFIT = -4;
    private static final int STREAM_SHIFT = 32;

    private final int slots;
    private final UnsafeBuffer flows;
    /** Memory that was not written holds the key of a flow by chance only. */
    private final long secret = new SecureRandom().nextLong();
    private final double[] sums = new double[PathFinder.MOST_PATHS];
    private final float[] fits = new float[PathFinder.MOST_PATHS];
    private final float[] scales = new float[PathFinder.MOST_PATHS];
    private final double[] probabilities = new double[PathFinder.MOST_PATHS];

    /** Paths of the flows of so many slots; 0 for none. Allocates them. */
    public FlowPaths(final int count) {
        this(new UnsafeBuffer(BufferUtil.allocateDirectAligned((int)memoryBytes(count), CACHE_LINE_LENGTH)));
    }

    /** Paths of the flows of as many slots as fit the memory, whose content is ignored. */
    public FlowPaths(final UnsafeBuffer memory) {
        flows = memory;
        slots = memory.capacity() / LENGTH_BYTES;
    }

    /** {@return octets off the heap for the flows of so many slots, by formula} */
    public static long memoryBytes(final int count) {
        return (long)Math.min(count, MOST_SLOTS) * LENGTH_BYTES;
    }

    /** {@return whether paths of flows are kept} */
    public boolean isOn() {
        return slots > 0;
    }

    private long key(final int generation, final int stream) {
        return secret ^ ((long)stream << STREAM_SHIFT | generation & 0xFFFFFFFFL);
    }

    /** The offset of a flow that is known; -1 if it is not, or paths are not kept. */
    public int find(final int slot, final int generation, final int stream, final PathFinder paths) {
        final int offset = slot * LENGTH_BYTES;
        if (slot >= slots || flows.getLong(offset) != key(generation, stream)) {
            return NONE;
        }
        final int behind = paths.version() - flows.getInt(offset + VERSION_OFFSET);
        if (behind >= PathFinder.VERSIONS) {
            return NONE;
        }
        if (behind > 0) {
            follow(offset, paths);
        }
        return offset;
    }

    /** The same; begins the flow if it is not known. */
    public int enter(final int slot, final int generation, final int stream, final PathFinder paths) {
        final int offset = slot * LENGTH_BYTES;
        if (slot < slots && find(slot, generation, stream, paths) == NONE) {
            flows.setMemory(offset, LENGTH_BYTES, (byte)0);
            flows.putLong(offset, key(generation, stream));
            flows.putInt(offset + VERSION_OFFSET, paths.version());
        }
        return slot < slots ? offset : NONE;
    }

    /** Copies what is known of a flow that is known to another slot and generation. */
    public void copy(final int offset, final int toSlot, final int toGeneration, final int stream) {
        if (offset != NONE && toSlot < slots) {
            flows.putBytes(toSlot * LENGTH_BYTES, flows, offset, LENGTH_BYTES);
            flows.putLong(toSlot * LENGTH_BYTES, key(toGeneration, stream));
        }
    }

    /** Paths have changed: each takes over what is known of the one that it has come from. */
    private void follow(final int offset, final PathFinder paths) {
        for (int version = flows.getInt(offset + VERSION_OFFSET) + 1; version <= paths.version(); version++) {
            for (int i = 0; i < PathFinder.MOST_PATHS; i++) {
                sums[i] = flows.getDouble(offset + SUMS_NS_OFFSET + i * Double.BYTES);
                fits[i] = flows.getFloat(offset + FITS_OFFSET + i * Float.BYTES);
            }
            for (int i = 0; i < PathFinder.MOST_PATHS; i++) {
                flows.putDouble(offset + SUMS_NS_OFFSET + i * Double.BYTES, sums[paths.parent(version, i)]);
                flows.putFloat(offset + FITS_OFFSET + i * Float.BYTES, fits[paths.parent(version, i)]);
            }
        }
        flows.putInt(offset + VERSION_OFFSET, paths.version());
        flows.putInt(offset + EARLIER_OFFSET, flows.getInt(offset + COUNT_OFFSET));
        decide(offset, paths);
    }

    /**
     * Takes a packet's delays by each path.
     *
     * @param offset   of a flow that was entered, or -1.
     * @param delaysNs by path.
     * @param heard    bits of the paths that have references around the packet.
     * @return its path, or {@link PathFinder#NONE} if that is not known.
     */
    public int onSample(final int offset, final PathFinder paths, final double[] delaysNs, final int heard) {
        if (offset == NONE) {
            return PathFinder.NONE;
        }
        final int path = flows.getInt(offset + PATH_OFFSET) - 1;
        flows.putInt(offset + COUNT_OFFSET, flows.getInt(offset + COUNT_OFFSET) + 1);
        if (path == NONE ? heard != (1 << paths.pathCount()) - 1 : (heard & 1 << path) == 0) {
            flows.putInt(offset + EARLIER_OFFSET, flows.getInt(offset + EARLIER_OFFSET) + 1);
        }
        for (int i = 0; i < paths.pathCount(); i++) {
            add(offset + SUMS_NS_OFFSET + i * Double.BYTES, delaysNs[i]);
        }
        return path;
    }

    private void add(final int offset, final double value) {
        flows.putDouble(offset, flows.getDouble(offset) + value);
    }

    /**
     * Takes the known delay of a packet, with those by each path and the scales of their errors, 1 or more. Returns the flow's
     * path, or {@link PathFinder#NONE} if that is not known.
     */
    public int onKnown(
        final int offset, final PathFinder paths, final double[] delaysNs, final float[] scalesNs, final double delayNs) {
        if (offset == NONE) {
            return PathFinder.NONE;
        }
        flows.putInt(offset + KNOWN_COUNT_OFFSET, flows.getInt(offset + KNOWN_COUNT_OFFSET) + 1);
        for (int i = 0; i < paths.pathCount(); i++) {
            final double quotient = (delayNs - delaysNs[i]) / scalesNs[i];
            fits[i] = (float)(-(FREEDOM + 1) / 2 * Math.log1p(quotient * quotient / FREEDOM));
            final int at = offset + FITS_OFFSET + i * Float.BYTES;
            flows.putFloat(at, flows.getFloat(at) + fits[i] - (float)Math.log(scalesNs[i]));
        }
        final int best = decide(offset, paths);
        flows.putFloat(offset + BEST_FITS_OFFSET, flows.getFloat(offset + BEST_FITS_OFFSET) + fits[best]);
        return flows.getInt(offset + PATH_OFFSET) - 1;
    }

    /** {@return samples of a flow, or of none, that have estimates by each of the present paths} */
    public long samples(final int offset) {
        return offset == NONE ? 0 : flows.getInt(offset + COUNT_OFFSET) - flows.getInt(offset + EARLIER_OFFSET);
    }

    /** Takes the known mean of a flow that has samples, with the scale of its distance from that by the right path. */
    public void onMean(final int offset, final PathFinder paths, final double meanNs, final double scaleNs) {
        for (int i = 0; i < paths.pathCount(); i++) {
            sums[i] = meanNs(offset, i, flows.getInt(offset + COUNT_OFFSET));
            scales[i] = (float)Math.max(1, scaleNs);
        }
        onKnown(offset, paths, sums, scales, meanNs);
    }

    /** Returns the most probable path. */
    private int decide(final int offset, final PathFinder paths) {
        final int best = weigh(offset, paths);
        flows.putInt(offset + PATH_OFFSET, probabilities[best] >= SURE && !isMisfit(offset) ? best + 1 : 0);
        return best;
    }

    /** Computes the probability of each path. Returns the most probable one. */
    private int weigh(final int offset, final PathFinder paths) {
        int best = 0;
        double largest = Double.NEGATIVE_INFINITY;
        for (int i = 0; i < paths.pathCount(); i++) {
            probabilities[i] = Math.log(paths.share(i)) + flows.getFloat(offset + FITS_OFFSET + i * Float.BYTES);
            best = probabilities[i] > largest ? i : best;
            largest = Math.max(largest, probabilities[i]);
        }
        double sum = 0;
        for (int i = 0; i < paths.pathCount(); i++) {
            probabilities[i] = Math.exp(probabilities[i] - largest);
            sum += probabilities[i];
        }
        for (int i = 0; i < paths.pathCount(); i++) {
            probabilities[i] /= sum;
        }
        return best;
    }

    private boolean isMisfit(final int offset) {
        final int count = flows.getInt(offset + KNOWN_COUNT_OFFSET);
        return count > 1 && flows.getFloat(offset + BEST_FITS_OFFSET) < count * MISFIT;
    }

    /**
     * Decides a flow's path as far as it is known.
     *
     * @param deviationsNs by path: how far a mean delay on it may be off, because it may be several.
     */
    public void resolve(
        final int offset, final PathFinder paths, final double[] deviationsNs, final PathEstimate result) {
        final int count = offset == NONE ? 0 : flows.getInt(offset + COUNT_OFFSET);
        result.set(0, Double.NaN, 0, PathEstimate.State.UNKNOWN);
        if (count == 0) {
            return;
        }
        final int best = weigh(offset, paths);
        double meanNs = probabilities[best] >= PROBABLE ? meanNs(offset, best, count) : 0;
        for (int i = 0; probabilities[best] < PROBABLE && i < paths.pathCount(); i++) {
            meanNs += probabilities[i] * meanNs(offset, i, count);
        }
        final PathEstimate.State state = isMisfit(offset) ? PathEstimate.State.MISFIT :
            probabilities[best] >= SURE ? PathEstimate.State.KNOWN : PathEstimate.State.UNKNOWN;
        result.set(
            samples(offset), meanNs,
            spreadNs(offset, paths.pathCount(), meanNs, count, deviationsNs), state);
    }

    private double meanNs(final int offset, final int path, final int count) {
        return flows.getDouble(offset + SUMS_NS_OFFSET + path * Double.BYTES) / count;
    }

    /**
     * The largest distance of a path's mean from the flow's, with what that may be off, without the least probable of the most
     * distant paths.
     */
    private double spreadNs(
        final int offset, final int pathCount, final double meanNs, final int count, final double[] deviationsNs) {
        double left = 1;
        double spreadNs = 0;
        while (left > UNCOVERED) {
            int nearest = NONE;
            double leastNs = Double.POSITIVE_INFINITY;
            for (int i = 0; i < pathCount; i++) {
                final double distanceNs = Math.abs(meanNs(offset, i, count) - meanNs) + deviationsNs[i];
                if (probabilities[i] >= 0 && (nearest == NONE || distanceNs < leastNs)) {
                    nearest = i;
                    leastNs = distanceNs;
                }
            }
            if (nearest == NONE) {
                return spreadNs;
            }
            spreadNs = probabilities[nearest] > 0 ? leastNs : spreadNs;
            left -= probabilities[nearest];
            probabilities[nearest] = NONE;
        }
        return spreadNs;
    }
}

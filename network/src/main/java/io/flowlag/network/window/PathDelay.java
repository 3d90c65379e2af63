package io.flowlag.network.window;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The delay of a flow along its path in one window, from the segments that reported it. The mean is the sum of means, the bound
 * the sum of bounds. Between {@code leastDeviationNs}, for independent segments, and {@code mostDeviationNs} is the deviation.
 *
 * @param stretches        the path in order, without overlaps: measured ones and gaps.
 * @param meanNs           sum over the path, or NaN if a gap is unknown.
 * @param boundNs          half width of its 95 % interval.
 * @param clockBoundNs     bound of the clocks that do not cancel: those of both ends of each run of segments, in which one begins
 *                         on the clock on which the one before ends.
 * @param leastDeviationNs √Σ s².
 * @param mostDeviationNs  Σ s.
 */
public record PathDelay(List<Stretch> stretches, double meanNs, double boundNs, double clockBoundNs, double leastDeviationNs,
    double mostDeviationNs) {
    /**
     * What one segment reports.
     *
     * @param begin       position along the path, such as the number of the node.
     * @param end         position, behind {@code begin}.
     * @param meanNs      mean delay of the flow.
     * @param boundNs     half width of its 95 % interval.
     * @param deviationNs standard deviation.
     * @param beginClock  the clock of the point where it begins.
     * @param endClock    the clock of the point where it ends.
     */
    public record Part(int begin, int end, double meanNs, double boundNs, double deviationNs, int beginClock, int endClock) {
        private boolean covers(final Part other) {
            return begin <= other.begin && end >= other.end && !(begin == other.begin && end == other.end);
        }
    }

    /**
     * A part of the path.
     *
     * @param begin      position.
     * @param end        position.
     * @param isMeasured whether a segment reported it; otherwise it is a gap, whose mean is that of a segment that covers it less
     *                   the others in it.
     * @param meanNs     mean delay, or NaN if it is unknown.
     * @param boundNs    half width of its 95 % interval, or NaN.
     */
    public record Stretch(int begin, int end, boolean isMeasured, double meanNs, double boundNs) {
    }

    /**
     * Joins the segments of a flow. Where segments cover one another, the shortest ones are the path; of two that overlap
     * without, the one that begins first.
     *
     * @param parts         in any order, at least one.
     * @param clockBoundsNs bound of the error of each clock.
     */
    public static PathDelay of(final List<Part> parts, final double[] clockBoundsNs) {
        final List<Part> chain = new ArrayList<>();
        parts.stream().filter((part) -> parts.stream().noneMatch(part::covers))
            .sorted(Comparator.comparingInt(Part::begin).thenComparing(Part::boundNs)).forEach((part) -> {
                if (chain.isEmpty() || part.begin >= chain.get(chain.size() - 1).end) {
                    chain.add(part);
                }
            });
        final List<Part> covers = parts.stream().filter((part) -> parts.stream().anyMatch(part::covers))
            .sorted(Comparator.comparing(Part::boundNs)).toList();
        final List<Stretch> stretches = new ArrayList<>();
        final List<Part> summed = new ArrayList<>();
        boolean isKnown = true;
        for (final Part part : chain) {
            if (!stretches.isEmpty() && part.begin > stretches.get(stretches.size() - 1).end) {
                final int gap = stretches.get(stretches.size() - 1).end;
                final Part cover = covers.stream().filter((each) -> isFor(each, gap, part.begin, chain)).findFirst().orElse(null);
                stretches.add(cover == null ? new Stretch(gap, part.begin, false, Double.NaN, Double.NaN) :
                    difference(gap, part.begin, cover, chain));
                isKnown &= cover != null;
                if (cover != null) {
                    summed.removeIf(cover::covers);
                    summed.add(cover);
                }
            }
            stretches.add(new Stretch(part.begin, part.end, true, part.meanNs, part.boundNs));
            if (summed.isEmpty() || part.begin >= summed.get(summed.size() - 1).end) {
                summed.add(part);
            }
        }
        return sum(stretches, summed, isKnown, clockBoundsNs);
    }

    /** Whether a segment covers one gap, and else only whole segments next to one another. */
    private static boolean isFor(final Part cover, final int gapBegin, final int gapEnd, final List<Part> chain) {
        final List<Part> inside = chain.stream().filter(cover::covers).toList();
        final int covered = inside.stream().mapToInt((part) -> part.end - part.begin).sum() + gapEnd - gapBegin;
        return cover.begin <= gapBegin && cover.end >= gapEnd && covered == cover.end - cover.begin;
    }

    private static Stretch difference(final int begin, final int end, final Part cover, final List<Part> chain) {
        double mean = cover.meanNs;
        double bound = cover.boundNs;
        for (final Part part : chain) {
            if (cover.covers(part)) {
                mean -= part.meanNs;
                bound += part.boundNs;
            }
        }
        return new Stretch(begin, end, false, mean, bound);
    }

    private static PathDelay sum(final List<Stretch> stretches, final List<Part> summed, final boolean isKnown,
        final double[] clockBoundsNs) {
        double mean = 0;
        double bound = 0;
        double clockBound = 0;
        double squares = 0;
        double deviations = 0;
        int first = 0;
        for (int i = 0; i < summed.size(); i++) {
            final Part part = summed.get(i);
            mean += part.meanNs;
            bound += part.boundNs;
            squares += part.deviationNs * part.deviationNs;
            deviations += part.deviationNs;
            if (i + 1 == summed.size() || summed.get(i + 1).beginClock != part.endClock) {
                final int beginClock = summed.get(first).beginClock;
                clockBound += beginClock == part.endClock ? 0 : clockBoundsNs[beginClock] + clockBoundsNs[part.endClock];
                first = i + 1;
            }
        }
        return isKnown ? new PathDelay(stretches, mean, bound, clockBound, Math.sqrt(squares), deviations) :
            new PathDelay(stretches, Double.NaN, Double.NaN, Double.NaN, Double.NaN, Double.NaN);
    }
}

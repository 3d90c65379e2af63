package io.flowlag.tests.lab.reconcile;

import io.flowlag.sketch.reconcile.DifferenceDecoder;
import io.flowlag.sketch.reconcile.PacketDifference;
import io.flowlag.sketch.reconcile.PureTest;
import io.flowlag.sketch.reconcile.RdaSizing;
import io.flowlag.sketch.reconcile.ReconcilableDifferenceAggregator;
import io.flowlag.sketch.reconcile.SynopsisGeometry;
import io.flowlag.tests.lab.comparator.FineComb;
import io.flowlag.tests.lab.comparator.FineCombEstimator;
import io.flowlag.tests.lab.comparator.FineCombStash;

import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;

/** Decoding: Figure 6 of the RDA paper, the number of banks, and false items of the paper's test of pure cells. */
public final class DecodingExperiment {
    private static final int PAPER_CELLS = 4_000;
    private static final int FINE_COMB_CELLS = 100;
    private static final long COMBINATIONS_LIMIT = 20_000_000;
    private static final double NS_PER_MS = 1e6;

    private DecodingExperiment() {
    }

    /**
     * Figure 6: times of decoding against the size of the difference, RDA of 2 banks of 4000 cells; and of FineComb's brute force
     * over its whole stash, against the size of the stash. Times are the best of the seeds, so that other load counts little.
     *
     * @param seeds how many, from 0; at least 10 for times that mean something.
     * @param scale share of the paper's cells and differences.
     * @return times of RDA, and of FineComb.
     */
    public static Rows[] times(final int seeds, final double scale) {
        final Rows rda = Rows.of("Figure 6, RDA of 2 banks of 4000 cells", "difference", "ms", "listed share");
        for (final int paper : new int[]{100, 500, 1_000, 2_000, 3_000, 4_000}) {
            final int items = (int)Math.max(1, Math.round(paper * scale));
            rda.add(concat(items, decode(SynopsisGeometry.rda(2, (int)Math.max(1, PAPER_CELLS * scale)), items, seeds)));
        }
        final Rows large = Rows.of(
            "Decoding at the size of late binding, and at the paper's", "difference", "4 banks ms", "4 banks listed",
            "2 banks ms", "2 banks listed");
        for (final int paper : new int[]{5_000, 100_000}) {
            final int items = (int)Math.max(1, Math.round(paper * scale));
            final double[] four = decode(RdaSizing.forEstimate(items, 0, 0, 1 << 30), items, seeds);
            final double[] two = decode(SynopsisGeometry.rda(2, 2 * items), items, seeds);
            large.add(items, four[0], four[1], two[0], two[1]);
        }
        return new Rows[]{rda, large, fineComb(scale)};
    }

    /**
     * The share of intervals that decode whole, by banks and by cells for each item of the difference.
     *
     * @param seeds hundreds of intervals, one for each.
     * @param scale share of the largest difference, 5000.
     * @return one row for each difference and number of banks.
     */
    public static Rows banks(final int seeds, final double scale) {
        final double[] ratios = {1.25, 1.5, 2, 3, 4};
        final Rows table = Rows.of("Share of intervals that decode whole, by cells over all banks for each item",
            "difference", "banks", "1.25", "1.5", "2", "3", "4", "1.5, and 60");
        for (final int paper : new int[]{10, 100, 1_000, 5_000}) {
            final int items = (int)Math.max(5, Math.round(paper * scale));
            for (int banks = 2; banks <= 5; banks++) {
                final double[] row = new double[ratios.length + 3];
                row[0] = items;
                row[1] = banks;
                for (int i = 0; i < ratios.length; i++) {
                    row[i + 2] = whole(banks, (int)Math.ceil(ratios[i] * items / banks), items, seeds);
                }
                row[ratios.length + 2] = whole(banks, (int)Math.ceil((1.5 * items + 60) / banks), items, seeds);
                table.add(row);
            }
        }
        return table;
    }

    /**
     * False items of each test of pure cells, where most intervals fail to decode: 150 items in 2 banks of 100 cells.
     *
     * @param seeds hundreds of intervals, one for each.
     * @param scale not used: the setting is small.
     * @return rows of index alone, and index and check.
     */
    public static Rows falseItems(final int seeds, final double scale) {
        final Rows table = Rows.of(
            "Items listed that never were", "check", "intervals", "intervals with false items", "false items", "true items");
        for (final PureTest pureTest : PureTest.values()) {
            final SynopsisGeometry geometry = SynopsisGeometry.rda(2, 100);
            int intervals = 0;
            long wrong = 0;
            long right = 0;
            for (int seed = 0; seed < seeds; seed++) {
                final Set<Long> items = new HashSet<>();
                final PacketDifference difference = difference(geometry, 150, seed, pureTest, items);
                long found = 0;
                for (int item = 0; item < difference.size(); item++) {
                    found += items.contains(difference.identifier(item)) ? 0 : 1;
                }
                wrong += found;
                right += difference.size() - found;
                intervals += found > 0 ? 1 : 0;
            }
            table.add(pureTest.ordinal(), seeds, intervals, wrong, right);
        }
        return table;
    }

    private static double whole(final int banks, final int cells, final int items, final int seeds) {
        int whole = 0;
        for (int seed = 0; seed < seeds; seed++) {
            final PacketDifference difference = difference(
                SynopsisGeometry.rda(banks, cells), items, seed, PureTest.CELL_INDEX_AND_CHECK, new HashSet<>());
            whole += difference.complete() ? 1 : 0;
        }
        return whole / (double)seeds;
    }

    private static PacketDifference difference(
        final SynopsisGeometry geometry, final int items, final int seed, final PureTest pureTest, final Set<Long> identifiers) {
        final SplittableRandom random = new SplittableRandom(seed);
        final ReconcilableDifferenceAggregator sender = new ReconcilableDifferenceAggregator(geometry, seed);
        final ReconcilableDifferenceAggregator receiver = new ReconcilableDifferenceAggregator(geometry, seed);
        for (int item = 0; item < items; item++) {
            final long identifier = random.nextLong();
            identifiers.add(identifier);
            (item % 3 == 0 ? receiver : sender).update(identifier, item);
        }
        final DifferenceDecoder decoder = new DifferenceDecoder(geometry.totalCells(), seed, pureTest);
        final PacketDifference difference = decoder.newDifference();
        decoder.decode(sender.image(), receiver.image(), difference);
        return difference;
    }

    /** Best time in ms, and the share that is listed. */
    private static double[] decode(final SynopsisGeometry geometry, final int items, final int seeds) {
        final DifferenceDecoder decoder = new DifferenceDecoder(geometry.totalCells(), 0);
        final PacketDifference difference = decoder.newDifference();
        double best = Double.MAX_VALUE;
        double listed = 0;
        for (int seed = 0; seed < seeds; seed++) {
            final SplittableRandom random = new SplittableRandom(seed);
            final ReconcilableDifferenceAggregator sender = new ReconcilableDifferenceAggregator(geometry, 0);
            final ReconcilableDifferenceAggregator receiver = new ReconcilableDifferenceAggregator(geometry, 0);
            for (int item = 0; item < items; item++) {
                (item % 2 == 0 ? receiver : sender).update(random.nextLong(), item);
            }
            for (int repeat = 0; repeat < 5; repeat++) {
                final long start = System.nanoTime();
                decoder.decode(sender.image(), receiver.image(), difference);
                best = Math.min(best, System.nanoTime() - start);
            }
            listed += difference.size() / (double)items / seeds;
        }
        return new double[]{best / NS_PER_MS, listed};
    }

    /** Six reordered packets in one cell of 100, and a stash that is tried whole: C(stash, 6) combinations at most. */
    private static Rows fineComb(final double scale) {
        final Rows table = Rows.of(
            "Figure 6, FineComb: one cell that gained 6 packets, the whole stash tried, at most 2·10⁷ combinations",
            "stash", "ms", "combinations", "abandoned cells");
        for (final int stashSize : scale < 1 ? new int[]{10, 20} : new int[]{10, 20, 30, 40, 60}) {
            final FineComb sender = new FineComb(FineComb.geometry(FINE_COMB_CELLS), 0);
            final FineComb receiver = new FineComb(FineComb.geometry(FINE_COMB_CELLS), 0);
            final FineComb probe = new FineComb(FineComb.geometry(FINE_COMB_CELLS), 0);
            final FineCombStash stash = new FineCombStash(stashSize);
            final SplittableRandom random = new SplittableRandom(1);
            int gained = 0;
            for (int packet = 0; packet < stashSize - 6; packet++) {
                final long identifier = random.nextLong();
                sender.update(identifier, packet);
                receiver.update(identifier, packet + 5);
                stash.offer(identifier, packet + 5);
            }
            while (gained < 6) {
                final long identifier = random.nextLong();
                probe.clear();
                probe.update(identifier, 0);
                if (probe.image().count(0) == 1) {
                    receiver.update(identifier, 1_000);
                    stash.offer(identifier, 1_000);
                    gained++;
                }
            }
            final FineCombEstimator estimator = new FineCombEstimator(FINE_COMB_CELLS, stashSize, 0, 0.95);
            estimator.pair(sender.image(), receiver.image());
            final long start = System.nanoTime();
            estimator.repair(stash, true, COMBINATIONS_LIMIT);
            table.add(
                stashSize, (System.nanoTime() - start) / NS_PER_MS, estimator.combinations(), estimator.abandonedCells());
        }
        return table;
    }

    private static double[] concat(final double first, final double[] others) {
        return new double[]{first, others[0], others[1]};
    }
}

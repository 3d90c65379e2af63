package io.flowlag.common.config;

import java.util.Collection;

/** Finds the intended name by edit distance with swapped neighbours, or by a prefix. Stateless, any thread. */
public final class Names {
    private Names() {
    }

    /** The known name nearest to an unknown one; null if none is near enough for a typing error. */
    public static String nearest(final String name, final Collection<String> known) {
        String best = null;
        int bestDistance = 1 + Math.max(1, name.length() / 3);
        for (final String candidate : known) {
            if (Math.abs(name.length() - candidate.length()) >= bestDistance && !isBeginning(name, candidate)) {
                continue; // the lengths differ too much
            }
            final int distance = isBeginning(name, candidate) ? 1 : distance(name, candidate, bestDistance);
            if (distance < bestDistance) {
                best = candidate;
                bestDistance = distance;
            }
        }
        return best;
    }

    /** The end of a sentence that names the nearest name, or nothing. */
    public static String didYouMean(final String name, final Collection<String> known) {
        final String nearest = nearest(name, known);
        return nearest == null ? "" : "; did you mean " + nearest + "?";
    }

    private static boolean isBeginning(final String name, final String candidate) {
        return name.length() >= 3 && candidate.startsWith(name + "-");
    }

    /** Stops once every path to a part of the name costs the bound. */
    private static int distance(final String left, final String right, final int bound) {
        final int[][] cost = new int[left.length() + 1][right.length() + 1];
        int formerLeast = 0;
        for (int i = 0; i <= left.length(); i++) {
            int least = Integer.MAX_VALUE;
            for (int j = 0; j <= right.length(); j++) {
                cost[i][j] = i == 0 || j == 0 ? i + j : cheapest(cost, left, right, i, j);
                least = Math.min(least, cost[i][j]);
            }
            if (least >= bound && formerLeast >= bound) { // swapped neighbours use the row before the last
                return bound;
            }
            formerLeast = least;
        }
        return cost[left.length()][right.length()];
    }

    private static int cheapest(final int[][] cost, final String left, final String right, final int i, final int j) {
        final boolean same = left.charAt(i - 1) == right.charAt(j - 1);
        int best = Math.min(cost[i - 1][j] + 1, cost[i][j - 1] + 1);
        best = Math.min(best, cost[i - 1][j - 1] + (same ? 0 : 1));
        final boolean swapped = i > 1 && j > 1 && left.charAt(i - 1) == right.charAt(j - 2) &&
            left.charAt(i - 2) == right.charAt(j - 1);
        return swapped ? Math.min(best, cost[i - 2][j - 2] + 1) : best;
    }
}

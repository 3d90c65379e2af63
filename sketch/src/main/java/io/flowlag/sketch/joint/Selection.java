package io.flowlag.sketch.joint;

/** The k-th smallest of an array, by Hoare's quickselect. Stateless; allocates never. */
final class Selection {
    private Selection() {
    }

    /** Reorders the first {@code count} values so that the {@code rank}-th smallest, from 0, is at its place; returns it. */
    static double smallest(final double[] values, final int count, final int rank) {
        int left = 0;
        int right = count - 1;
        while (left < right) {
            final double pivot = values[left + right >>> 1];
            int i = left - 1;
            int j = right + 1;
            while (i < j) {
                do {
                    i++;
                } while (values[i] < pivot);
                do {
                    j--;
                } while (values[j] > pivot);
                if (i < j) {
                    final double moved = values[i];
                    values[i] = values[j];
                    values[j] = moved;
                }
            }
            if (rank <= j) {
                right = j;
            } else {
                left = j + 1;
            }
        }
        return values[rank];
    }
}

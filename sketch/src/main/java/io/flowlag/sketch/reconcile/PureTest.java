package io.flowlag.sketch.reconcile;

/** When a cell of the difference is taken to hold a single item. */
public enum PureTest {
    /**
     * The paper's (section V-B): the bank's own hash of the cell's identifiers gives the cell's index, and the count is 1 or -1.
     * Three packets pass it with probability 1/m, and a packet that never existed is then listed.
     */
    CELL_INDEX,
    /**
     * In addition to the index, the low half of the same hash gives the cell's check: a false match has probability 1 in m times
     * 2^32.
     */
    CELL_INDEX_AND_CHECK
}

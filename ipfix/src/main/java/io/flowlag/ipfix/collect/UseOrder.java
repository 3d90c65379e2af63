package io.flowlag.ipfix.collect;

/**
 * Entries in the order of their last use: a list whose links are in the entries, so that a use costs no search and no memory.
 * An entry is in one order at most. One thread. Allocates never.
 *
 * @param <E> what is in it.
 */
final class UseOrder<E extends UseOrder.Entry<E>> {
    private E oldest;
    private E newest;

    /**
     * What can be in an order.
     *
     * @param <E> its own type.
     */
    abstract static class Entry<E extends Entry<E>> {
        E older;
        E newer;
    }

    /** {@return the one not used for longest; null if there is none} */
    E oldest() {
        return oldest;
    }

    /** An entry that is in no order comes in, as the newest. */
    void add(final E entry) {
        entry.older = newest;
        entry.newer = null;
        if (newest == null) {
            oldest = entry;
        } else {
            newest.newer = entry;
        }
        newest = entry;
    }

    /** An entry is used. */
    void touch(final E entry) {
        if (entry != newest) {
            remove(entry);
            add(entry);
        }
    }

    /** An entry goes. */
    void remove(final E entry) {
        if (entry.older == null) {
            oldest = entry.newer;
        } else {
            entry.older.newer = entry.newer;
        }
        if (entry.newer == null) {
            newest = entry.older;
        } else {
            entry.newer.older = entry.older;
        }
        entry.older = null;
        entry.newer = null;
    }
}

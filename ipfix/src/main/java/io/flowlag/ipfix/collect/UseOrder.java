package io.flowlag.ipfix.collect;

/**
 * Entries in the order of their last use: a list whose links are in the entries, so that a use needs no search and no memory. An
 * entry is in at most one order. One thread. Never allocates.
 *
 * @param <E> the entries.
 */
final class UseOrder<E extends UseOrder.Entry<E>> {
    private E oldest;
    private E newest;

    /**
     * An entry of an order.
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

    /** Adds an entry that is in no order, as the newest. */
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

    /** Makes an entry the newest. */
    void touch(final E entry) {
        if (entry != newest) {
            remove(entry);
            add(entry);
        }
    }

    /** Removes an entry. */
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

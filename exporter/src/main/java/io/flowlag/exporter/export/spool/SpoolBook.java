package io.flowlag.exporter.export.spool;

import io.flowlag.exporter.status.SpoolStatistics;

import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The counters of a spool. The exporting thread writes those of records, one other those of octets; any thread reads. Records
 * recovered + records in = held + out + lost.
 */
final class SpoolBook {
    private static final int HELD = 0;
    private static final int TAKEN_UP = 1;
    private static final int IN = 2;
    private static final int OUT = 3;
    private static final int PERHAPS_TWICE = 4;
    private static final int FILES_BYTES = 5;
    private static final int BOUND_BYTES = 6;
    private static final int REFUSED_BYTES = 7;
    private static final int ERRORS = 8;
    private static final int SETTLED = 9;
    private static final int COUNT = 10;

    private final AtomicLongArray values = new AtomicLongArray(COUNT);

    void bound(final long octets) {
        values.set(BOUND_BYTES, octets);
    }

    void files(final long octets) {
        values.setRelease(FILES_BYTES, octets);
    }

    void onTakenUp(final long records, final long perhapsTwice, final long refusedOctets) {
        add(HELD, records);
        add(TAKEN_UP, records);
        add(PERHAPS_TWICE, perhapsTwice);
        add(REFUSED_BYTES, refusedOctets);
    }

    void onRecordIn() {
        add(IN, 1);
        add(HELD, 1);
    }

    /** So many of the records written are settled, none before an earlier one. */
    void settled(final long records) {
        values.setRelease(SETTLED, records);
    }

    /** Counts records that were discarded. */
    void onLost(final long records) {
        add(HELD, -records);
    }

    void onDamaged(final long octets) {
        add(REFUSED_BYTES, octets);
        onError();
    }

    void onReleased() {
        add(HELD, -1);
        add(OUT, 1);
    }

    /** Counts a failure; any thread. */
    void onError() {
        values.addAndGet(ERRORS, 1);
    }

    long held() {
        return values.getAcquire(HELD);
    }

    long recordsIn() {
        return values.getAcquire(IN);
    }

    long recordsSettled() {
        return values.getAcquire(SETTLED);
    }

    SpoolStatistics statistics() {
        return new SpoolStatistics(values.get(HELD), values.get(TAKEN_UP), values.get(IN), values.get(OUT),
            values.get(PERHAPS_TWICE), values.get(FILES_BYTES), values.get(BOUND_BYTES), values.get(REFUSED_BYTES),
            values.get(ERRORS));
    }

    private void add(final int index, final long amount) {
        values.setRelease(index, values.getPlain(index) + amount);
    }
}

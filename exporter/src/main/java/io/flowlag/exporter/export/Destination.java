package io.flowlag.exporter.export;

import io.flowlag.exporter.status.DestinationStatistics;
import org.agrona.DirectBuffer;

import java.util.List;

/**
 * Receives flow records. The exporting thread owns it; only {@link #statistics()} may be read by others. A destination that
 * cannot take a record returns at once; a spool waits for its disk first, within a bound.
 */
public interface Destination {
    /** Result of an offer. */
    enum Outcome {
        /** Taken, or counted as failed; the caller is done with the record. */
        DONE,
        /** Not taken, in file replay only; the caller offers it again after {@link #doWork}. */
        BLOCKED
    }

    /**
     * Progress of records in the two queues of a destination: to its transport and to its spool.
     *
     * @param direct      given to the transport's queue.
     * @param spooledLeft written to disk, or discarded.
     */
    record Progress(long direct, long directLeft, long spooled, long spooledLeft) {
    }

    /** {@return its URI, for messages} */
    String name();

    /** Offers one finished flow, see {@link io.flowlag.exporter.flow.FlowEntry}. Returns what became of it. */
    Outcome offer(DirectBuffer entry, int offset, int lengthBytes, long nowMs);

    /** From now on drops and counts what it cannot take, instead of answering {@link Outcome#BLOCKED}. */
    void stopWaiting();

    /** Sends what is due, connects, repeats templates; now is of the UNIX epoch. Returns how much was done. */
    int doWork(long nowMs);

    /** {@return whether it waits for its collector, so that {@link #doWork} should be called soon} */
    default boolean isWaiting() {
        return false;
    }

    /**
     * Starts or continues an orderly close: sends everything taken, then closes the session.
     *
     * @param nowMs      the time now, UNIX epoch.
     * @param deadlineMs end of the wait; unsent records are counted as failed then.
     * @return whether the destination is closed.
     */
    boolean close(long nowMs, long deadlineMs);

    /** {@return counters of this destination; safe from any thread} */
    DestinationStatistics statistics();

    /** {@return the progress of records; safe from any thread} */
    default Progress progress() {
        final DestinationStatistics statistics = statistics();
        return new Progress(statistics.recordsMade(), statistics.recordsMade() - statistics.recordsWaiting(), 0, 0);
    }

    /** Forces records in its spool to the disk, and blocks meanwhile. Any thread. Returns whether all of them are there. */
    default boolean force() {
        return true;
    }

    /** {@return notices from construction, each worth a log line} */
    default List<String> notices() {
        return List.of();
    }

    /** {@return whether a collector is known to be absent; safe from any thread} */
    default boolean isMissing() {
        return false;
    }

    /** {@return the last reason of a failed send, or an empty string; safe from any thread} */
    String lastError();
}

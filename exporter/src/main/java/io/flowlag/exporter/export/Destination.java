package io.flowlag.exporter.export;

import io.flowlag.exporter.status.DestinationStatistics;
import org.agrona.DirectBuffer;

import java.util.List;

/**
 * Where flow records go. The exporting thread owns it; only {@link #statistics()} may be read by others. Nothing here waits:
 * a destination that cannot take a record says so at once.
 */
public interface Destination {
    /** What became of a record. */
    enum Outcome {
        /** Taken, or counted as failed: the caller is done with the record. */
        DONE,
        /** Not taken yet, said in file replay only: the caller offers it again after {@link #doWork}. */
        BLOCKED
    }

    /**
     * How far records have got in the two queues of a destination, the one to its transport and the one to its spool.
     *
     * @param direct      put into the first.
     * @param spooledLeft that are on disk, or given up.
     */
    record Progress(long direct, long directLeft, long spooled, long spooledLeft) {
    }

    /** {@return what the destination is, for messages: its URI} */
    String name();

    /**
     * Offers one flow.
     *
     * @param entry holds the finished flow, see {@link io.flowlag.exporter.flow.FlowEntry}.
     * @param nowMs the time now, UNIX epoch.
     * @return what became of it.
     */
    Outcome offer(DirectBuffer entry, int offset, int lengthBytes, long nowMs);

    /** From now on loses what it cannot take, counted, instead of answering {@link Outcome#BLOCKED}. */
    void stopWaiting();

    /**
     * Sends what is due, connects, repeats templates.
     *
     * @param nowMs the time now, UNIX epoch.
     * @return how much was done.
     */
    int doWork(long nowMs);

    /**
     * Begins, or goes on with, the orderly end: everything taken is sent, then the session is closed.
     *
     * @param nowMs      the time now, UNIX epoch.
     * @param deadlineMs when to give up; what is left then is counted as failed.
     * @return whether the destination is closed.
     */
    boolean close(long nowMs, long deadlineMs);

    /** {@return counters of this destination; safe from any thread} */
    DestinationStatistics statistics();

    /** {@return how far records have got; safe from any thread} */
    default Progress progress() {
        final DestinationStatistics statistics = statistics();
        return new Progress(statistics.recordsMade(), statistics.recordsMade() - statistics.recordsWaiting(), 0, 0);
    }

    /** {@return what was found when the destination was made and is worth a line} */
    default List<String> notices() {
        return List.of();
    }

    /** {@return the last reason for which something could not be sent, or an empty string; safe from any thread} */
    String lastError();
}

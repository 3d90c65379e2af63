package io.flowlag.exporter.runtime;

import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.status.DestinationStatistics;
import org.agrona.DirectBuffer;

/** Takes every record at once and says so; what it makes of a record is the test's. */
public abstract class TakingDestination implements Destination {
    private long recordCount;

    /** A record, in {@link io.flowlag.exporter.flow.FlowEntry} layout. */
    protected abstract void onRecord(DirectBuffer entry, int offset);

    /** {@return records so far} */
    long recordCount() {
        return recordCount;
    }

    @Override
    public String name() {
        return "taken";
    }

    @Override
    public Outcome offer(final DirectBuffer entry, final int offset, final int lengthBytes, final long nowMs) {
        onRecord(entry, offset);
        recordCount++;
        return Outcome.DONE;
    }

    @Override
    public void stopWaiting() {
        throw new IllegalStateException("never blocked");
    }

    @Override
    public int doWork(final long nowMs) {
        return 0;
    }

    @Override
    public boolean close(final long nowMs, final long deadlineMs) {
        return true;
    }

    @Override
    public DestinationStatistics statistics() {
        return new DestinationStatistics(name(), recordCount, recordCount, 0, 0, 0, 0, 0, 0, 0, 0, null);
    }

    @Override
    public String lastError() {
        return "";
    }
}

package io.flowlag.exporter.delay;

import org.agrona.DirectBuffer;

/** Counts references in place of sending them. */
public final class CountingTransmitter implements ReferenceTransmitter {
    private int sentCount;

    public int sentCount() {
        return sentCount;
    }

    @Override
    public boolean send(final int streamIndex, final DirectBuffer buffer, final int offset, final int lengthBytes) {
        sentCount++;
        return true;
    }

    @Override
    public int poll(final SendTimeHandler handler, final int limit) {
        return 0;
    }

    @Override
    public void close() {
        // nothing is open
    }
}

package io.flowlag.exporter.runtime.collect;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * A stream whose reader can stop although a read blocks, such as of a pipe, which cannot be interrupted. A daemon thread reads it
 * and is abandoned at the end; everything else is for the reader's thread. Allocates per chunk.
 */
final class StoppableInput extends InputStream {
    private static final int CHUNK_BYTES = 1 << 16;
    private static final int CHUNKS = 4;
    private static final long WAIT_MS = 50;
    private static final Chunk END = new Chunk(new byte[0], null);

    /** Opens the stream that is read; opening a pipe without a writer blocks there too. */
    interface Opener {
        /** {@return the stream} */
        InputStream open() throws IOException;
    }

    /** Octets read, or the reason why reading failed; with neither, the end. */
    private record Chunk(byte[] octets, IOException failure) {
    }

    private final BlockingQueue<Chunk> chunks = new ArrayBlockingQueue<>(CHUNKS);
    private final BooleanSupplier stop;
    private final Thread thread;
    private Chunk chunk = new Chunk(new byte[0], null);
    private int position;

    StoppableInput(final Opener opener, final BooleanSupplier stop) {
        this.stop = stop;
        thread = new Thread(() -> pump(opener), "collect-input");
        thread.setDaemon(true);
        thread.start();
    }

    private void pump(final Opener opener) {
        try (InputStream in = opener.open()) {
            final byte[] octets = new byte[CHUNK_BYTES];
            for (int count = in.read(octets); count >= 0; count = in.read(octets)) {
                chunks.put(new Chunk(Arrays.copyOf(octets, count), null));
            }
            chunks.put(END);
        } catch (final IOException ex) {
            putLast(new Chunk(new byte[0], ex));
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt(); // the reader has gone
        }
    }

    private void putLast(final Chunk last) {
        try {
            chunks.put(last);
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public int read() throws IOException {
        final byte[] octet = new byte[1];
        return read(octet, 0, 1) < 0 ? -1 : octet[0] & 0xFF;
    }

    @Override
    public int read(final byte[] octets, final int offset, final int length) throws IOException {
        while (length > 0 && position == chunk.octets().length) {
            if (chunk == END || stop.getAsBoolean()) {
                return -1;
            }
            takeChunk();
        }
        final int count = Math.min(length, chunk.octets().length - position);
        System.arraycopy(chunk.octets(), position, octets, offset, count);
        position += count;
        return count;
    }

    /** {@return octets available without a long wait; decompressors ask whether more input follows} */
    @Override
    public int available() throws IOException {
        if (position == chunk.octets().length && chunk != END) {
            takeChunk();
        }
        return chunk.octets().length - position;
    }

    private void takeChunk() throws IOException {
        final Chunk next;
        try {
            next = chunks.poll(WAIT_MS, TimeUnit.MILLISECONDS);
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
            chunk = END;
            return;
        }
        if (next == null) {
            return;
        }
        if (next.failure() != null) {
            throw next.failure();
        }
        chunk = next;
        position = 0;
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}

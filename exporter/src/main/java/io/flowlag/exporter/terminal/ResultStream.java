package io.flowlag.exporter.terminal;

import java.io.BufferedOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * A buffered UTF-8 stream for results; the user flushes it. It distinguishes a reader that has gone, such as {@code head}, from
 * lost results. Any thread may call it; allocates at construction.
 */
public final class ResultStream extends PrintStream {
    /** Reason of lost results, which a print stream does not keep. */
    public static final String FAILURE = "the disk is full, or the reader has gone";

    private static final int BUFFER_BYTES = 1 << 16;

    private final Sink sink;

    /** A stream for results. */
    public ResultStream(final OutputStream out) {
        this(new Sink(out));
    }

    private ResultStream(final Sink sink) {
        super(new BufferedOutputStream(sink, BUFFER_BYTES), false, StandardCharsets.UTF_8);
        this.sink = sink;
    }

    /** {@return whether writing failed because the reader closed the pipe} */
    boolean isReaderGone() {
        return sink.isReaderGone;
    }

    /** The target of the print stream, which keeps the reason of a failure. */
    private static final class Sink extends FilterOutputStream {
        private static final String BROKEN_PIPE = "Broken pipe";

        private volatile boolean isReaderGone;

        private Sink(final OutputStream out) {
            super(out);
        }

        @Override
        public void write(final byte[] octets, final int offset, final int lengthBytes) throws IOException {
            try {
                out.write(octets, offset, lengthBytes);
            } catch (final IOException ex) {
                isReaderGone |= BROKEN_PIPE.equals(ex.getMessage());
                throw ex;
            }
        }
    }
}

package io.flowlag.exporter.capture.file;

import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CaptureException.Kind;
import io.flowlag.exporter.capture.FilterSupplier;

import java.io.File;
import java.io.InputStream;
import java.util.List;

/** Opens capture files as packet sources. Stateless; safe from any thread. */
public final class CaptureFiles {
    /** The path that stands for standard input. */
    public static final String STANDARD_INPUT = "-";

    private CaptureFiles() {
    }

    /**
     * Opens captures; see {@link #open(List, FilterSupplier, InputStream)}. Standard input is {@link System#in}.
     *
     * @param filters of their packets; {@link FilterSupplier#ALL} for none.
     * @throws CaptureException if one cannot be read at all, or the filter is wrong.
     */
    public static CaptureFileSource open(final List<String> paths, final FilterSupplier filters) {
        return open(paths, filters, System.in);
    }

    /**
     * Opens captures: a single one is read in file order, several are merged by time. A single capture with a damaged first
     * header is refused; among several, {@link CaptureFileSource#damage()} reports it.
     *
     * @param paths         of the captures, at least one, {@link #STANDARD_INPUT} among them at most once.
     * @param filters       of their packets; {@link FilterSupplier#ALL} for none.
     * @param standardInput closed with the source if it is among the captures.
     * @throws CaptureException if one cannot be read at all, or the filter is wrong.
     */
    public static CaptureFileSource open(
        final List<String> paths, final FilterSupplier filters, final InputStream standardInput) {
        return open(paths, filters, standardInput, MappedWindow.WINDOW_LENGTH_BYTES, StreamWindow.BUFFER_LENGTH_BYTES);
    }

    /** {@return octets of all captures; more than any have if one is compressed or no file, which do not tell how many follow} */
    public static long lengthBytes(final List<String> paths) {
        long sum = 0;
        for (final String path : paths) {
            final File file = new File(path);
            if (!file.isFile() || path.endsWith(".gz")) {
                return Long.MAX_VALUE;
            }
            sum += file.length();
        }
        return sum;
    }

    /** Throws a {@link CaptureException} if standard input is named more than once in all captures that are opened. */
    public static void requireOneStandardInput(final List<String> paths) {
        if (paths.indexOf(STANDARD_INPUT) != paths.lastIndexOf(STANDARD_INPUT)) {
            throw new CaptureException(Kind.NO_INPUT, "standard input is named more than once; it can be read once only");
        }
    }

    static CaptureFileSource open(
        final List<String> paths,
        final FilterSupplier filters,
        final InputStream standardInput,
        final int windowLengthBytes,
        final int bufferLengthBytes) {
        if (paths.isEmpty()) {
            throw new CaptureException(Kind.NO_INPUT, "no capture is named");
        }
        requireOneStandardInput(paths);
        final CaptureOpener opener = new CaptureOpener(standardInput, windowLengthBytes, bufferLengthBytes);
        return paths.size() == 1
            ? new SingleFileSource(paths.get(0), opener, filters)
            : new MergedFileSource(paths, opener, filters);
    }
}

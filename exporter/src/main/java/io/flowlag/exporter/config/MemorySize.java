package io.flowlag.exporter.config;

/** Sizes of memory on command lines. Stateless. */
public final class MemorySize {
    private static final ValueType<Long> SIZE = UnitValue.octets("16m", "1024g");

    private MemorySize() {
    }

    /**
     * Reads a size.
     *
     * @param text such as 512m or 4g.
     * @return octets.
     * @throws IllegalArgumentException if it is invalid; the message says why.
     */
    public static long parse(final String text) {
        try {
            return SIZE.parse(text);
        } catch (final BadValueException ex) {
            throw new IllegalArgumentException(ex.getMessage(), ex);
        }
    }
}

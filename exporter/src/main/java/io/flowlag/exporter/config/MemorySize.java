package io.flowlag.exporter.config;

/** Sizes of memory as command lines write them. Has no state. */
public final class MemorySize {
    private static final UnitValue SIZE = UnitValue.octets("16m", "1024g");

    private MemorySize() {
    }

    /**
     * Reads a size.
     *
     * @param text such as 512m or 4g.
     * @return octets.
     * @throws IllegalArgumentException if it is none; the message says what is wrong with it.
     */
    public static long parse(final String text) {
        try {
            return SIZE.parse(text);
        } catch (final BadValueException ex) {
            throw new IllegalArgumentException(ex.getMessage(), ex);
        }
    }
}

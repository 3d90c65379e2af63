package io.flowlag.exporter.fuzz;

/** A law that an input broke, with the input. */
public final class FuzzFault extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final transient byte[] input;

    FuzzFault(final String message, final byte[] input, final Throwable cause) {
        super(message, cause);
        this.input = input.clone();
    }

    /** {@return the input, to be stored and tried again} */
    public byte[] input() {
        return input.clone();
    }
}

package io.flowlag.exporter.inject;

/** References cannot be sent or received here. The message is one line that names the thing and the way out. */
public final class InjectionException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean isPermission;

    /**
     * A failure.
     *
     * @param message      one line.
     * @param isPermission whether the system does not permit it.
     */
    public InjectionException(final String message, final boolean isPermission) {
        super(message);
        this.isPermission = isPermission;
    }

    /** {@return whether the system does not permit it} */
    public boolean isPermission() {
        return isPermission;
    }
}

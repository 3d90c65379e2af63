package io.flowlag.exporter.reference;

/** References cannot be sent or received here. The message is one line with the cause and the remedy. */
public final class InjectionException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean isPermission;
    private final boolean isAddressInUse;

    /** A failure; whether the system does not permit it. */
    public InjectionException(final String message, final boolean isPermission) {
        this(message, isPermission, false);
    }

    /** A failure; whether the system does not permit it, and whether another process holds the port. */
    InjectionException(final String message, final boolean isPermission, final boolean isAddressInUse) {
        super(message);
        this.isPermission = isPermission;
        this.isAddressInUse = isAddressInUse;
    }

    boolean isAddressInUse() {
        return isAddressInUse;
    }

    public boolean isPermission() {
        return isPermission;
    }
}

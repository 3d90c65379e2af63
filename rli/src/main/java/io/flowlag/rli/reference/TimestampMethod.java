package io.flowlag.rli.reference;

/** How an effective send time was taken: STAMP Timestamping Methods (RFC 8972 section 5.5). */
public enum TimestampMethod {
    /** By hardware. */
    HARDWARE_ASSIST(1),
    /** By software of the sending host, such as the kernel's packet stamp. */
    SOFTWARE_LOCAL(2),
    /** By the control plane. */
    CONTROL_PLANE(3);

    private final byte code;

    TimestampMethod(final int code) {
        this.code = (byte)code;
    }

    /** {@return the registered number} */
    public byte code() {
        return code;
    }
}

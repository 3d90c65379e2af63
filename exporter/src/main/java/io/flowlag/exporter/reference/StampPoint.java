package io.flowlag.exporter.reference;

/** Where the sender's observation point stands, and so which of the kernel's stamps tells a reference's effective send time. */
public enum StampPoint {
    /**
     * Before the queueing discipline: regular packets are stamped where they arrive at this host (two points on one router), so
     * the queue of this host belongs to the delay.
     */
    BEFORE_QUEUE(UdpLayout.TIMESTAMPING_TX_SCHED, UdpLayout.STAMP_SCHEDULED),
    /** Behind the queueing discipline: regular packets are stamped where they leave this host. */
    AFTER_QUEUE(UdpLayout.TIMESTAMPING_TX_SOFTWARE, UdpLayout.STAMP_SENT);

    private final int flag;
    private final int kind;

    StampPoint(final int flag, final int kind) {
        this.flag = flag;
        this.kind = kind;
    }

    /** {@return the flag that asks for the stamp} */
    int flag() {
        return flag;
    }

    /** {@return what the kernel calls the stamp} */
    int kind() {
        return kind;
    }
}

package io.flowlag.exporter.reference;

/** The position of the sender's observation point, which selects the kernel stamp for a reference's effective send time. */
public enum StampPoint {
    /**
     * Before the queueing discipline: regular packets are stamped on arrival at this host (two points on one router), so this
     * host's queue is part of the delay.
     */
    BEFORE_QUEUE(UdpLayout.TIMESTAMPING_TX_SCHED, UdpLayout.STAMP_SCHEDULED),
    /** Behind the queueing discipline: regular packets are stamped when they leave this host. */
    AFTER_QUEUE(UdpLayout.TIMESTAMPING_TX_SOFTWARE, UdpLayout.STAMP_SENT);

    private final int flag;
    private final int kind;

    StampPoint(final int flag, final int kind) {
        this.flag = flag;
        this.kind = kind;
    }

    int flag() {
        return flag;
    }

    int kind() {
        return kind;
    }
}

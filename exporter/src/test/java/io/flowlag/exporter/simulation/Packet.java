package io.flowlag.exporter.simulation;

/** A packet of the segment, and what truly became of it. Times are of the clock of each point. */
final class Packet {
    final int flow;
    final long number;
    long sentNs;
    /** The clock of the sender point when it was sent, less the simulation's time. */
    long senderOffsetNs;
    long arrivedNs;
    /** Whether the process at the sender point saw it. */
    boolean isSeenBySender;
    boolean isLost;
    /** Whether it came while a stage of the receiver stood still: its flow may end before a round of the checkpoint sees it. */
    boolean isHeldUp;
    boolean isCopied;
    /** The run of the process at the receiver point that saw it; -1 for none. */
    int receiverLife = -1;

    Packet(final int flow, final long number) {
        this.flow = flow;
        this.number = number;
    }
}

package io.flowlag.exporter.lab;

/**
 * Takes what happens on a simulated segment, in the order of time. Must not throw. Called by the thread that runs the
 * simulation.
 */
public interface SegmentHandler {
    /** A packet passes the sender's point; the view is valid during the call. */
    void onSent(SimulatedPacket packet);

    /** A packet passes the receiver's point: its last bit has left the transmitter, by the receiver's clock. */
    void onReceived(SimulatedPacket packet, long arrivalNs);

    /** A packet will not pass the receiver's point; the view is valid during the call. */
    void onLost(SimulatedPacket packet);
}

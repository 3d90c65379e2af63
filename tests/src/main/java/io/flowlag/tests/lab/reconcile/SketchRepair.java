package io.flowlag.tests.lab.reconcile;

import io.flowlag.exporter.delay.interval.repair.FlowLosses;
import io.flowlag.exporter.delay.interval.repair.LocalPeer;
import io.flowlag.exporter.delay.interval.repair.PacketReconciler;
import io.flowlag.exporter.delay.interval.repair.ReconcileSettings;
import io.flowlag.sketch.image.CellEditor;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
import io.flowlag.sketch.reconcile.LdsRepair;
import io.flowlag.sketch.reconcile.PacketCache;

/**
 * The exporter's reconciliation of an interval between two points: both remember their packets, the receiver requests, and lost
 * packets are removed from the sender's sketch. One thread. Allocates at construction and a little for each interval.
 */
public final class SketchRepair {
    private static final int LEAST_CELLS = 4096;
    private static final int CELLS_PER_LOSS = 3;

    private final PacketCache sent;
    private final PacketCache received;
    private final PacketReconciler reconciler;
    private final LocalPeer peer;
    private final LdsRepair cells;
    private final CellEditor editor = new CellEditor();

    /**
     * Nothing remembered.
     *
     * @param geometry    of the sketches, of family LDS.
     * @param mostPackets of an interval at a point.
     * @param mostLosses  for which the aggregators have room.
     */
    public SketchRepair(final SketchGeometry geometry, final long seed, final int mostPackets, final int mostLosses) {
        final ReconcileSettings settings = new ReconcileSettings(mostPackets, LEAST_CELLS + CELLS_PER_LOSS * mostLosses, 0);
        sent = new PacketCache(mostPackets, seed);
        received = new PacketCache(mostPackets, seed);
        reconciler = new PacketReconciler(settings, 1, seed);
        peer = new LocalPeer(settings, seed);
        cells = new LdsRepair(geometry, seed);
    }

    /** Begins with an interval. */
    public void begin(final long number, final long intervalNs) {
        sent.clear();
        received.clear();
        sent.begin(number, intervalNs);
        received.begin(number, intervalNs);
    }

    /**
     * A packet at the sender.
     *
     * @param timeNs since the interval's start.
     */
    public void onSent(final long digest, final long flowHash, final long timeNs, final int bytes) {
        sent.add(digest, flowHash, timeNs, bytes, 1, 0);
    }

    /**
     * A packet at the receiver.
     *
     * @param timeNs since the interval's start.
     */
    public void onReceived(final long digest, final long flowHash, final long timeNs, final int bytes) {
        received.add(digest, flowHash, timeNs, bytes, 1, 0);
    }

    /** Removes lost packets from the sender's sketch, and unexpected ones from the receiver's. */
    public void repair(final LossyDifferenceSketch sender, final LossyDifferenceSketch receiver) {
        reconciler.begin(received, null, false, false, peer.of(sent, null, false), (difference, sentPackets, receivedPackets) -> {
            cells.repair(difference, true, sentPackets, editor.wrap(sender));
            cells.repair(difference, false, receivedPackets, editor.wrap(receiver));
        });
        if (!reconciler.work()) {
            throw new IllegalStateException("a peer of the same process answers at once");
        }
    }

    /** {@return the lost packets by flow} */
    public FlowLosses losses() {
        return reconciler.losses();
    }

    /** {@return octets of all requests and answers} */
    public long octets() {
        return reconciler.octets();
    }
}

package io.flowlag.exporter.delay.interval.repair;

import io.flowlag.sketch.reconcile.PacketCache;
import io.flowlag.sketch.reconcile.SynopsisImage;

/** The sender point of the same process, which answers immediately. One thread. Allocates at construction. */
public final class LocalPeer implements SynopsisPeer {
    private final SynopsisResponder responder;
    private PacketCache cache;
    private FlowKeyTable keys;
    private boolean isDamaged;
    private SynopsisImage answer;

    /** Creates a peer without packets, with the seed that both points share. */
    public LocalPeer(final ReconcileSettings settings, final long seed) {
        responder = new SynopsisResponder(settings, seed);
    }

    /**
     * Sets the packets that requests are about, the keys of their flows or null, and whether the point lost packets of its
     * own.
     */
    public LocalPeer of(final PacketCache newCache, final FlowKeyTable newKeys, final boolean damaged) {
        cache = newCache;
        keys = newKeys;
        isDamaged = damaged;
        answer = null;
        cache.settle();
        return this;
    }

    @Override
    public boolean ask(final SynopsisRequest request) {
        answer = responder.answer(request, cache, keys, isDamaged);
        return true;
    }

    @Override
    public SynopsisImage answer() {
        return answer;
    }

    @Override
    public boolean isExpected() {
        return false;
    }
}

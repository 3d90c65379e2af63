package io.flowlag.exporter.decode;

import io.flowlag.common.hash.SipHash;

/**
 * The digest key over time, where the other measurement point changes it while packets pass. One thread changes it, any number
 * of decoders read it. A change must come before packets of its time. Allocates at a change.
 */
public final class DigestSwitch {
    private volatile Change latest;

    /** Another key; packets of the time, UNIX epoch, and later ones use it. */
    record Change(SipHash hash, long fromNs) {
    }

    /** Changes the key; packets of the time, UNIX epoch, and later ones use it. */
    public void change(final SipHash hash, final long fromNs) {
        latest = new Change(hash, fromNs);
    }

    /** {@return the last change; null if there was none} */
    Change latest() {
        return latest;
    }
}

package io.flowlag.exporter.decode;

/**
 * The digest of packets whose key may change while packets pass. One thread. Allocates at construction and at a change.
 */
final class TimedDigest {
    private final DigestSwitch keys;
    private final int payloadBytes;
    private final int mostBytes;
    private PacketDigest digest;
    private PacketDigest nextDigest;
    private DigestSwitch.Change nextChange;

    /** A digest by the keys of a switch; parameters as of {@link PacketDigest}. */
    TimedDigest(final DigestSwitch keys, final int payloadBytes, final int mostBytes) {
        this.keys = keys;
        this.payloadBytes = payloadBytes;
        this.mostBytes = mostBytes;
    }

    /** The digest with the key for a packet's time; null for none. */
    PacketDigest at(final long timestampNs) {
        final DigestSwitch.Change change = keys.latest();
        if (change != nextChange) {
            digest = nextDigest;
            nextDigest = new PacketDigest(change.hash(), payloadBytes, mostBytes);
            nextChange = change;
        }
        return change != null && timestampNs >= change.fromNs() ? nextDigest : digest;
    }
}

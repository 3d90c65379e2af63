package io.flowlag.ipfix.collect;

import java.net.InetAddress;
import java.nio.ByteBuffer;

/**
 * The sessions of one source address: an IPv4 address, or the first 64 bits of an IPv6 address. What they use is counted
 * together, so that the address that uses most gives way to others. One thread. Allocates at construction.
 */
final class PeerAddress {
    /** Addresses with at most this many sessions are equal. */
    static final int PLACES = 8;
    /** Of sessions without an address, such as files. */
    static final ByteBuffer LOCAL = ByteBuffer.allocate(0);

    private static final int NETWORK_BYTES = 8;

    private final ByteBuffer key;
    private final UseOrder<TransportSession> sessions = new UseOrder<>();
    private int sessionCount;
    private int heldCount;

    PeerAddress(final ByteBuffer key) {
        this.key = key;
    }

    static ByteBuffer key(final InetAddress address) {
        final byte[] octets = address.getAddress();
        return ByteBuffer.wrap(octets, 0, Math.min(octets.length, NETWORK_BYTES));
    }

    ByteBuffer key() {
        return key;
    }

    /** Its sessions in the order of their last message. */
    UseOrder<TransportSession> sessions() {
        return sessions;
    }

    int sessionCount() {
        return sessionCount;
    }

    /** The number of sessions, at least {@link #PLACES}. */
    int crowd() {
        return Math.max(PLACES, sessionCount);
    }

    /** What all its sessions hold, see {@link TransportSession#heldCount()}. */
    int heldCount() {
        return heldCount;
    }

    void hold(final int addedCount) {
        heldCount += addedCount;
    }

    void add(final TransportSession session) {
        sessions.add(session);
        sessionCount++;
    }

    void remove(final TransportSession session) {
        sessions.remove(session);
        sessionCount--;
    }
}

package io.flowlag.exporter.exchange.wire;

import org.agrona.MutableDirectBuffer;

/**
 * Seals and opens the messages of one session between two ends that share a key. Both ends count the messages of a direction, so
 * that none can be changed, omitted, repeated or reflected. One thread.
 */
public interface MessageSeal {
    /**
     * The seal for the version of a sender's HELLO.
     *
     * @param key           that both ends share.
     * @param receiverHello octets of the receiver's HELLO.
     * @param senderHello   octets of the sender's HELLO, without the trailer.
     */
    static MessageSeal of(
        final int version, final SharedKey key, final boolean isReceiver, final byte[] receiverHello, final byte[] senderHello) {
        return version == ExchangeHeader.OLDEST_VERSION ?
            MessageAuthenticator.of(key, isReceiver, receiverHello, senderHello) :
            MessageCipher.of(key, isReceiver, receiverHello, senderHello);
    }

    /** Seals the next message of this end, which has room for a trailer and says so in its header. */
    void seal(MutableDirectBuffer buffer, int offset, int lengthBytes);

    /**
     * Opens the next message of the other end. Returns whether it is valid; its body is readable then, and unchanged otherwise.
     */
    boolean open(MutableDirectBuffer buffer, int offset, int lengthBytes);

    /** Number of messages opened. */
    long opened();

    /** Whether bodies are encrypted. */
    boolean isEncrypting();

    /** Hides the secrets of settings before they are sealed, if bodies stay readable. */
    void hideSecrets(MutableDirectBuffer settings, int offset);
}

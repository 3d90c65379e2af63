package io.flowlag.exporter.exchange.wire;

import org.agrona.MutableDirectBuffer;

/**
 * Seals and opens the messages of one session between two ends that share a key. Both count the messages of a direction, so that
 * none can be changed, left out, repeated or sent back. One thread.
 */
public interface MessageSeal {
    /**
     * What the version of a sender's HELLO asks for.
     *
     * @param key           that both ends share.
     * @param receiverHello octets of the receiver's HELLO.
     * @param senderHello   octets of the sender's HELLO, without the trailer.
     */
    static MessageSeal of(
        final int version, final SharedKey key, final boolean isReceiver, final byte[] receiverHello, final byte[] senderHello) {
        return ExchangeHeader.OLDEST_VERSION == version ?
            MessageAuthenticator.of(key, isReceiver, receiverHello, senderHello) :
            MessageCipher.of(key, isReceiver, receiverHello, senderHello);
    }

    /** Seals the next message of this end, which has room for a trailer and says so in its header. */
    void seal(MutableDirectBuffer buffer, int offset, int lengthBytes);

    /** Whether the next message is what the other end sent next; if so, its body can be read now, else nothing has changed. */
    boolean open(MutableDirectBuffer buffer, int offset, int lengthBytes);

    /** Messages of the other end that were opened. */
    long opened();

    /** Whether only the other end can read the bodies. */
    boolean isEncrypting();

    /** Hides the secrets of settings that are sealed next, where the body stays readable. */
    void hideSecrets(MutableDirectBuffer settings, int offset);
}

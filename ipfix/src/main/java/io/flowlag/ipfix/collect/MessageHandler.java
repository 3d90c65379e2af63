package io.flowlag.ipfix.collect;

import org.agrona.DirectBuffer;

/**
 * Receives the valid messages of a {@link CollectingProcess} that does not decode them, one call a message, on the thread of the
 * process.
 */
public interface MessageHandler {
    /**
     * One message, verified.
     *
     * @param session     that it came by.
     * @param buffer      has it; belongs to the caller and is valid only during the call.
     * @param offset      of its first octet.
     * @param lengthBytes of the message, with its header.
     */
    void onMessage(TransportSession session, DirectBuffer buffer, int offset, int lengthBytes);

    /** A Transport Session has ended: its templates are gone. */
    void onEnd(TransportSession session);
}

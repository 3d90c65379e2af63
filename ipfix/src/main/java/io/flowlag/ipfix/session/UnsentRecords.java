package io.flowlag.ipfix.session;

import io.flowlag.ipfix.template.Template;
import org.agrona.DirectBuffer;

/**
 * Receives flow records that a broken connection did not deliver, so that they can be kept for the next one. Called by the
 * session's thread, which owns the octets; must not call the session.
 */
public interface UnsentRecords {
    /**
     * One record, oldest first.
     *
     * @param buffer holds it during the call.
     * @param offset of its first octet.
     */
    void onUnsent(Template template, DirectBuffer buffer, int offset, int lengthBytes);

    /** Ends the records of this connection. */
    void onUnsentEnd();
}

package io.flowlag.ipfix.session;

import io.flowlag.ipfix.template.Template;
import org.agrona.DirectBuffer;

/**
 * Takes flow records back which a broken connection had not carried away, so that somebody can keep them for the next one. Called
 * by the session's thread, which owns the octets; must not call the session.
 */
public interface UnsentRecords {
    /**
     * One record, oldest first.
     *
     * @param buffer holds it during the call.
     * @param offset of its first octet.
     */
    void onUnsent(Template template, DirectBuffer buffer, int offset, int lengthBytes);

    /** That was the last one of this connection. */
    void onUnsentEnd();
}

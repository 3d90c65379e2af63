package io.flowlag.ipfix.session;

import io.flowlag.ipfix.message.SetHeader;
import io.flowlag.ipfix.template.FieldSpecifier;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import org.agrona.concurrent.UnsafeBuffer;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.List;

/**
 * The Message Checksum of RFC 5655 section 8.1.1: an options record at the end of a message with the MD5 digest of the whole
 * message, computed while the digest's own octets are 0. Used by one thread; allocates per message.
 */
final class MessageChecksum {
    private static final int DIGEST_BYTES = 16;
    private static final int SCOPE_BYTES = 1;
    private static final int DIGEST_OFFSET = SetHeader.LENGTH_BYTES + SCOPE_BYTES;
    /** Octets of the Set that {@link #put} writes. */
    static final int LENGTH_BYTES = DIGEST_OFFSET + DIGEST_BYTES;

    private final Template template;
    private final MessageDigest digest;
    private final byte[] message;

    MessageChecksum(final TemplateCatalog catalog, final int maxMessageBytes) {
        final FieldSpecifier scope = catalog.field("messageScope");
        final FieldSpecifier checksum = catalog.field("messageMD5Checksum", DIGEST_BYTES);
        template = catalog.template(1, List.of(scope, checksum));
        message = new byte[maxMessageBytes];
        try {
            digest = MessageDigest.getInstance("MD5");
        } catch (final NoSuchAlgorithmException ex) {
            throw new IllegalStateException("every JDK has MD5", ex);
        }
    }

    Template template() {
        return template;
    }

    /** Writes the Set without the digest, before the message's header is final. */
    void put(final UnsafeBuffer buffer, final int offset) {
        SetHeader.put(buffer, offset, template.templateId(), LENGTH_BYTES);
        buffer.setMemory(offset + SetHeader.LENGTH_BYTES, SCOPE_BYTES + DIGEST_BYTES, (byte)0);
    }

    /** Writes the digest when everything else is final; the Set is the last of the message. */
    void seal(final UnsafeBuffer buffer, final int setOffset) {
        final int messageBytes = setOffset + LENGTH_BYTES;
        buffer.getBytes(0, message, 0, messageBytes);
        digest.update(message, 0, messageBytes);
        buffer.putBytes(setOffset + DIGEST_OFFSET, digest.digest());
    }
}

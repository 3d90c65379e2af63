package io.flowlag.rli.reference;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.security.DigestException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;

import static io.flowlag.rli.reference.ReferenceDescriptor.HMAC_LENGTH_BYTES;

/**
 * HMAC-SHA-256 truncated to 128 bits (RFC 2104, RFC 8762 section 4.4) over octets in buffers. Built on {@link MessageDigest},
 * because {@code javax.crypto.Mac} allocates at each result. One thread. Keeps a copy of the key. Allocates at construction.
 */
public final class ReferenceMac {
    /** The shortest key, octets. */
    public static final int MINIMUM_KEY_LENGTH_BYTES = 16;

    private static final int BLOCK_LENGTH_BYTES = 64;
    private static final int DIGEST_LENGTH_BYTES = 32;
    private static final byte INNER_PAD = 0x36;
    private static final byte OUTER_PAD = 0x5C;

    private final MessageDigest sha256;
    private final byte[] innerKey = new byte[BLOCK_LENGTH_BYTES];
    private final byte[] outerKey = new byte[BLOCK_LENGTH_BYTES];
    private final byte[] text = new byte[BLOCK_LENGTH_BYTES];
    private final byte[] digest = new byte[DIGEST_LENGTH_BYTES];
    private final byte[] expected = new byte[HMAC_LENGTH_BYTES];
    private final byte[] received = new byte[HMAC_LENGTH_BYTES];

    /** Takes and copies a key of at least 16 octets. */
    public ReferenceMac(final byte[] key) {
        if (key.length < MINIMUM_KEY_LENGTH_BYTES) {
            throw new IllegalArgumentException(
                "keyLengthBytes=" + key.length + " is below " + MINIMUM_KEY_LENGTH_BYTES);
        }
        try {
            sha256 = MessageDigest.getInstance("SHA-256");
        } catch (final NoSuchAlgorithmException ex) {
            throw new IllegalStateException("every Java platform has SHA-256", ex);
        }
        final byte[] blockKey = Arrays.copyOf(key.length > BLOCK_LENGTH_BYTES ? sha256.digest(key) : key, BLOCK_LENGTH_BYTES);
        for (int i = 0; i < BLOCK_LENGTH_BYTES; i++) {
            innerKey[i] = (byte)(blockKey[i] ^ INNER_PAD);
            outerKey[i] = (byte)(blockKey[i] ^ OUTER_PAD);
        }
    }

    /** Begins a new text. */
    public ReferenceMac begin() {
        sha256.reset();
        sha256.update(innerKey, 0, BLOCK_LENGTH_BYTES);
        return this;
    }

    /**
     * Adds octets to the text.
     *
     * @param offset      of the first.
     * @param lengthBytes how many.
     */
    public ReferenceMac update(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        for (int done = 0; done < lengthBytes; done += BLOCK_LENGTH_BYTES) {
            final int length = Math.min(BLOCK_LENGTH_BYTES, lengthBytes - done);
            buffer.getBytes(offset + done, text, 0, length);
            sha256.update(text, 0, length);
        }
        return this;
    }

    /** Ends the text and writes its code of 16 octets. */
    public void write(final MutableDirectBuffer buffer, final int offset) {
        end();
        buffer.putBytes(offset, expected, 0, HMAC_LENGTH_BYTES);
    }

    /**
     * Ends the text and compares its code in constant time.
     *
     * @param offset of the 16 octets.
     * @return true if they are the same.
     */
    public boolean matches(final DirectBuffer buffer, final int offset) {
        end();
        buffer.getBytes(offset, received, 0, HMAC_LENGTH_BYTES);
        return MessageDigest.isEqual(expected, received);
    }

    private void end() {
        try {
            sha256.digest(digest, 0, DIGEST_LENGTH_BYTES);
            sha256.update(outerKey, 0, BLOCK_LENGTH_BYTES);
            sha256.update(digest, 0, DIGEST_LENGTH_BYTES);
            sha256.digest(digest, 0, DIGEST_LENGTH_BYTES);
        } catch (final DigestException ex) {
            throw new IllegalStateException("SHA-256 has 32 octets", ex);
        }
        System.arraycopy(digest, 0, expected, 0, HMAC_LENGTH_BYTES);
    }
}

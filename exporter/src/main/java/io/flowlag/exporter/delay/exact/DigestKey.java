package io.flowlag.exporter.delay.exact;

import io.flowlag.common.command.ExitException;
import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.config.KeyFile;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.file.Path;
import java.security.SecureRandom;

/** The key of packet digests: 32 hexadecimal digits in a file that both measurement points have, or a random one. */
public final class DigestKey {
    private static final int KEY_LENGTH_BYTES = 16;
    private static final String REMEDY = "32 hexadecimal digits, as openssl rand -hex 16 prints";

    private DigestKey() {
    }

    /**
     * The hash function of a key.
     *
     * @param file holds the key; null for a random one.
     * @throws ExitException if the file cannot be read or holds no key; the message names it.
     */
    public static SipHash of(final Path file) {
        return SipHash.ofKey(octets(file), 0);
    }

    /** The 16 octets of a key, as of {@link #of}. */
    public static DirectBuffer octets(final Path file) {
        if (file == null) {
            final byte[] key = new byte[KEY_LENGTH_BYTES];
            new SecureRandom().nextBytes(key);
            return new UnsafeBuffer(key);
        }
        return new UnsafeBuffer(
            KeyFile.read("decode.digest-key-file", file, 1, KEY_LENGTH_BYTES, KEY_LENGTH_BYTES, REMEDY).get(0));
    }

    /** {@return what is wrong with a key's file; null if it is valid} */
    public static String fault(final Path file) {
        return KeyFile.fault(file, 1, KEY_LENGTH_BYTES, KEY_LENGTH_BYTES, REMEDY);
    }
}

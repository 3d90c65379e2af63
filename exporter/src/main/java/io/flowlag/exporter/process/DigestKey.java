package io.flowlag.exporter.process;

import io.flowlag.exporter.console.ExitCode;
import io.flowlag.exporter.console.ExitException;
import io.flowlag.sketch.hash.SipHash;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;

/** The key of packet digests: 32 hexadecimal digits in a file that both measurement points have, or a random one. */
final class DigestKey {
    private static final int KEY_LENGTH_BYTES = 16;

    private DigestKey() {
    }

    /**
     * The hash function of a key.
     *
     * @param file holds the key; null for a random one.
     * @return the hash function.
     * @throws ExitException if the file cannot be read or holds no key; the message names it.
     */
    static SipHash of(final Path file) {
        return SipHash.ofKey(octets(file), 0);
    }

    /**
     * The octets of a key.
     *
     * @param file holds the key; null for a random one.
     * @return 16 octets.
     * @throws ExitException if the file cannot be read or holds no key; the message names it.
     */
    static DirectBuffer octets(final Path file) {
        final byte[] key = new byte[KEY_LENGTH_BYTES];
        if (file == null) {
            new SecureRandom().nextBytes(key);
            return new UnsafeBuffer(key);
        }
        try {
            final byte[] octets = HexFormat.of().parseHex(Files.readString(file).strip());
            if (octets.length == KEY_LENGTH_BYTES) {
                return new UnsafeBuffer(octets);
            }
        } catch (final IOException | IllegalArgumentException ex) {
            throw new ExitException(ExitCode.CONFIGURATION, noKey(file));
        }
        throw new ExitException(ExitCode.CONFIGURATION, noKey(file));
    }

    private static String noKey(final Path file) {
        return "decode.digest-key-file=" + file + ": holds no key: write 32 hexadecimal digits, as openssl rand -hex 16 prints";
    }
}

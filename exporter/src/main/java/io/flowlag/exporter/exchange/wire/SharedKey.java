package io.flowlag.exporter.exchange.wire;

import io.flowlag.exporter.config.KeyFile;

import java.io.IOException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.List;

/** A secret in a file at both ends: 32 to 128 hexadecimal digits. Immutable; {@code toString} hides it. */
public final class SharedKey {
    private static final int MIN_BYTES = 16;
    private static final int MAX_BYTES = 64;

    private final byte[] octets;

    private SharedKey(final byte[] octets) {
        this.octets = octets;
    }

    /**
     * Reads the current key, and the next one if there is a second line.
     *
     * @return one or two.
     * @throws IOException if the file cannot be read or holds no key; the message names the file.
     */
    public static List<SharedKey> load(final Path file) throws IOException {
        try {
            final List<SharedKey> keys = KeyFile.lines(file).stream().map(SharedKey::of).toList();
            if (keys.isEmpty() || keys.size() > KeyFile.MOST_KEYS) {
                throw new IllegalArgumentException("keys=" + keys.size());
            }
            return keys;
        } catch (final IllegalArgumentException ex) {
            throw new IOException(
                file + " holds no key: write 32 to 128 hexadecimal digits, as flowlag key writes", ex);
        }
    }

    /**
     * A key from its 16 to 64 octets.
     *
     * @throws IllegalArgumentException if there are fewer or more.
     */
    public static SharedKey of(final byte[] octets) {
        if (octets.length < MIN_BYTES || octets.length > MAX_BYTES) {
            throw new IllegalArgumentException("keyBytes=" + octets.length + " is not within 16 and 64");
        }
        return new SharedKey(octets.clone());
    }

    public byte[] octets() {
        return octets;
    }

    /** Compares in constant time. */
    @Override
    public boolean equals(final Object other) {
        return other instanceof SharedKey that && MessageDigest.isEqual(octets, that.octets);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(octets);
    }

    @Override
    public String toString() {
        return "SharedKey[hidden]";
    }
}

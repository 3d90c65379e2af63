package io.flowlag.exporter.exchange.wire;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;

/** A secret in a file at both ends: 32 to 128 hexadecimal digits. Immutable; {@code toString} hides it. */
public final class SharedKey {
    private static final int MIN_BYTES = 16;
    private static final int MAX_BYTES = 64;

    private final byte[] octets;

    private SharedKey(final byte[] octets) {
        this.octets = octets;
    }

    /**
     * Reads a key.
     *
     * @throws IOException if the file cannot be read or holds no key; the message names the file.
     */
    public static SharedKey load(final Path file) throws IOException {
        try {
            return of(HexFormat.of().parseHex(Files.readString(file).strip()));
        } catch (final IllegalArgumentException | CharacterCodingException ex) {
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

    @Override
    public String toString() {
        return "SharedKey[hidden]";
    }
}

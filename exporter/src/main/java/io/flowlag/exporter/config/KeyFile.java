package io.flowlag.exporter.config;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;

/**
 * Keys that a configuration names by their files, in hexadecimal digits. A file holds the current key, by which this end sends;
 * it may hold the next one on a second line, which this end accepts too. Has no state.
 */
public final class KeyFile {
    /** Most keys of a file: the current one and the next one. */
    public static final int MOST_KEYS = 2;
    private static final int NEW_KEY_BYTES = 32;

    private KeyFile() {
    }

    /** Writes a random key of 32 octets into a new file that only its owner may read; one that is there is never replaced. */
    public static void make(final Path file) throws IOException {
        final byte[] key = new byte[NEW_KEY_BYTES];
        new SecureRandom().nextBytes(key);
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(file, HexFormat.of().formatHex(key) + "\n");
    }

    /**
     * Reads keys of so many octets. The remedy is what to write into the file.
     *
     * @param name     of the option, for the message.
     * @param mostKeys how many lines may hold one.
     * @return at least one.
     * @throws ExitException if the file cannot be read or holds no such keys; the message names it.
     */
    public static List<byte[]> read(
        final String name, final Path file, final int mostKeys, final int leastBytes, final int mostBytes, final String remedy) {
        final String fault = fault(file, mostKeys, leastBytes, mostBytes, remedy);
        if (fault != null) {
            throw new ExitException(ExitCode.CONFIGURATION, name + "=" + file + ": " + fault);
        }
        return octets(file);
    }

    /** {@return the fault of a key's file, with the remedy; null if it holds as many keys of so many octets} */
    public static String fault(
        final Path file, final int mostKeys, final int leastBytes, final int mostBytes, final String remedy) {
        final List<byte[]> keys = octets(file);
        final boolean isValid = !keys.isEmpty() && keys.size() <= mostKeys &&
            keys.stream().allMatch((key) -> key.length >= leastBytes && key.length <= mostBytes);
        return isValid ? null : "holds no key: write " + remedy;
    }

    /**
     * Reads the keys of a file, whatever their number and lengths.
     *
     * @return a key for each line that is not empty.
     * @throws IOException              if the file cannot be read.
     * @throws IllegalArgumentException if it holds something else.
     */
    public static List<byte[]> lines(final Path file) throws IOException {
        try {
            return Files.readString(file).lines().map(String::strip).filter((line) -> !line.isEmpty())
                .map(HexFormat.of()::parseHex).toList();
        } catch (final CharacterCodingException ex) {
            throw new IllegalArgumentException("no text", ex);
        }
    }

    private static List<byte[]> octets(final Path file) {
        try {
            return lines(file);
        } catch (final IOException | IllegalArgumentException ex) {
            return List.of();
        }
    }
}

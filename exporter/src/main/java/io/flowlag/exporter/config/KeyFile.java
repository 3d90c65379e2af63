package io.flowlag.exporter.config;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.common.file.Disk;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;

/**
 * Keys that a configuration names by their files, in hexadecimal digits. A file holds the current key, by which this end sends;
 * it may hold the next one on a second line, which this end accepts too. Has no state.
 */
public final class KeyFile {
    /** Most keys of a file: the current one and the next one. */
    public static final int MOST_KEYS = 2;
    private static final int NEW_KEY_BYTES = 32;
    private static final Set<PosixFilePermission> TOO_OPEN = Set.of(PosixFilePermission.GROUP_WRITE,
        PosixFilePermission.OTHERS_READ, PosixFilePermission.OTHERS_WRITE, PosixFilePermission.OTHERS_EXECUTE);

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

    /**
     * Looks at a file's kind, owner and mode.
     *
     * @param isSecret whether others must not be able to read or replace it.
     * @return its fault, with the remedy; null if there is none.
     */
    public static String accessFault(final Path file, final boolean isSecret) {
        if (!Files.isRegularFile(file)) {
            return Files.exists(file) ? "is no regular file: name a file" : "no such file: check the path";
        }
        if (!Files.isReadable(file)) {
            return "may not be read: check its owner and mode";
        }
        if (isSecret && isForeign(file)) {
            return "holds a secret and belongs to another user, who may replace it: chown it to root, or to the process's user";
        }
        return isSecret && isTooOpen(file) ? "holds a secret that others may read or replace: chmod 600 " + file : null;
    }

    private static boolean isForeign(final Path file) {
        try {
            return Disk.isForeign(file);
        } catch (final IOException ex) {
            return true; // an unknown owner is not trusted
        }
    }

    private static boolean isTooOpen(final Path file) {
        try {
            return Files.getPosixFilePermissions(file).stream().anyMatch(TOO_OPEN::contains);
        } catch (final UnsupportedOperationException ex) {
            return false; // a file system without permissions
        } catch (final IOException ex) {
            return true; // unknown permissions are not trusted
        }
    }
}

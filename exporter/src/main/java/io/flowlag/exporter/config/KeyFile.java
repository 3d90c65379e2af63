package io.flowlag.exporter.config;

import io.flowlag.exporter.terminal.ExitCode;
import io.flowlag.exporter.terminal.ExitException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;

/** Keys that a configuration names by their files, in hexadecimal digits. Has no state. */
public final class KeyFile {
    private static final byte[] NO_KEY = {};

    private KeyFile() {
    }

    /**
     * Reads a key.
     *
     * @param name       of the option, for the message.
     * @param file       holds the key.
     * @param leastBytes of the key, above 0.
     * @param mostBytes  of the key.
     * @param remedy     what to write into the file, for the message.
     * @return its octets.
     * @throws ExitException if the file cannot be read or holds no such key; the message names it.
     */
    public static byte[] read(
        final String name, final Path file, final int leastBytes, final int mostBytes, final String remedy) {
        final String fault = fault(file, leastBytes, mostBytes, remedy);
        if (fault != null) {
            throw new ExitException(ExitCode.CONFIGURATION, name + "=" + file + ": " + fault);
        }
        return octets(file);
    }

    /**
     * What is wrong with a key's file.
     *
     * @param file       holds the key.
     * @param leastBytes of the key, above 0.
     * @param mostBytes  of the key.
     * @param remedy     what to write into the file.
     * @return the fault and the way out; null if the file holds a key.
     */
    public static String fault(final Path file, final int leastBytes, final int mostBytes, final String remedy) {
        final int lengthBytes = octets(file).length;
        return lengthBytes < leastBytes || lengthBytes > mostBytes ? "holds no key: write " + remedy : null;
    }

    private static byte[] octets(final Path file) {
        try {
            return HexFormat.of().parseHex(Files.readString(file).strip());
        } catch (final IOException | IllegalArgumentException ex) {
            return NO_KEY;
        }
    }
}

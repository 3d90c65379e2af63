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
     * Reads a key of so many octets. The remedy is what to write into the file.
     *
     * @param name of the option, for the message.
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

    /** {@return the fault of a key's file, with the remedy; null if it holds a key of so many octets} */
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

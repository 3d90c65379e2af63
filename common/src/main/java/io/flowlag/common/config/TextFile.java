package io.flowlag.common.config;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Reads files whole, up to a limit. Stateless. */
public final class TextFile {
    private TextFile() {
    }

    /**
     * Reads a file.
     *
     * @param kind      what it is a file of, such as {@code configuration}.
     * @param mostBytes above which it is not read, octets: a multiple of 1 MiB.
     * @param problems  gets why it cannot be read.
     * @return its text; null if it cannot be read.
     */
    public static String read(final Path file, final String kind, final long mostBytes, final Problems problems) {
        try {
            if (Files.isDirectory(file)) {
                problems.addMissingInput(file + ": is a directory: name a " + kind + " file");
            } else if (Files.size(file) > mostBytes) {
                problems.addMissingInput(file + ": is larger than " + (mostBytes >> 20) + " MiB: it is no " + kind + " file");
            } else {
                return Files.readString(file, StandardCharsets.UTF_8);
            }
        } catch (final NoSuchFileException ex) {
            problems.addMissingInput(file + ": no such " + kind + " file: check the path");
        } catch (final AccessDeniedException ex) {
            problems.addMissingInput(file + ": may not be read: check its owner and mode");
        } catch (final CharacterCodingException ex) {
            problems.add(Origin.file(file.toString(), 1, 1), "is not UTF-8: save it as UTF-8");
        } catch (final IOException ex) {
            problems.addMissingInput(file + ": cannot be read: " + ex.getMessage());
        }
        return null;
    }
}

package io.flowlag.exporter.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Text under {@code docs/} that is made from the code: a test compares it with what the code says now, and writes it anew when it
 * runs with {@code -Dflowlag.docs.write=true}.
 */
public final class GeneratedDocs {
    private static final boolean IS_WRITING = Boolean.getBoolean("flowlag.docs.write");

    private GeneratedDocs() {
    }

    /** {@return the directory {@code docs} of the checkout} */
    public static Path directory() {
        Path directory = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(directory.resolve("docs")) || !Files.isDirectory(directory.resolve("exporter"))) {
            directory = directory.getParent();
        }
        return directory.resolve("docs");
    }

    /**
     * Compares a whole file.
     *
     * @param name   under docs.
     * @param wanted what it shall hold.
     * @throws IOException if it cannot be read or written.
     */
    public static void assertFile(final String name, final String wanted) throws IOException {
        final Path file = directory().resolve(name);
        if (IS_WRITING) {
            Files.writeString(file, wanted);
        }
        assertEquals(wanted, Files.exists(file) ? Files.readString(file) : "", name + " is out of date: " + wayOut());
    }

    /**
     * Compares a section of a page, between the comments {@code <!-- NAME: ... -->} and {@code <!-- end of NAME -->}.
     *
     * @param page    under docs.
     * @param section name in the comments.
     * @param wanted  what stands between them.
     * @throws IOException if the page cannot be read or written.
     */
    public static void assertSection(final String page, final String section, final String wanted) throws IOException {
        final Path file = directory().resolve(page);
        final String text = Files.readString(file);
        final int begin = text.indexOf("<!-- " + section + ": ");
        final int end = text.indexOf("<!-- end of " + section + " -->");
        assertTrue(begin >= 0 && end > begin, page + " has no section " + section);
        final String head = text.substring(0, text.indexOf('\n', begin) + 1);
        final String whole = head + "\n" + wanted.stripTrailing() + "\n\n" + text.substring(end);
        if (IS_WRITING) {
            Files.writeString(file, whole);
        }
        assertEquals(whole, Files.readString(file), page + " is out of date: " + wayOut());
    }

    private static String wayOut() {
        return "run this test with -Dflowlag.docs.write=true";
    }
}

package io.flowlag.ipfix.transport;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;

/**
 * The reasons of file errors as text; the JDK's own messages are often only the file's name. Stateless, any thread; allocates the
 * text.
 */
final class FileErrors {
    private FileErrors() {
    }

    static String reason(final IOException ex) {
        if (ex instanceof NoSuchFileException) {
            return "no such file or directory";
        }
        if (ex instanceof AccessDeniedException) {
            return "permission denied";
        }
        return ex.getMessage() == null ? ex.getClass().getSimpleName() : ex.getMessage();
    }
}

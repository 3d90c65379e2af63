package io.flowlag.exporter.terminal;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Output files of a command: checks in advance whether they can be written, and describes failures. */
public final class OutputFiles {
    /** The name that means standard output. */
    public static final String STANDARD_OUTPUT = "-";

    private OutputFiles() {
    }

    /** Refuses with {@link ExitCode#CANNOT_WRITE} a file whose directory does not exist; accepts null and standard output. */
    public static void check(final String what, final Path file) {
        if (file == null || STANDARD_OUTPUT.equals(file.toString())) {
            return;
        }
        final Path directory = file.toAbsolutePath().getParent();
        if (directory == null || Files.isDirectory(file)) {
            throw failure(what, file, "is a directory");
        }
        if (!Files.exists(directory)) {
            throw failure(what, file, "no such directory");
        }
        if (!Files.isDirectory(directory)) {
            throw failure(what, file, directory + " is not a directory");
        }
        if (!Files.exists(file) && !Files.isWritable(directory)) {
            throw failure(what, file, "permission denied");
        }
    }

    /** Describes a failed write of something, such as {@code the truth}, with the reason in words. */
    public static ExitException failure(final String what, final Path file, final IOException cause) {
        return failure(what, file, reason(cause));
    }

    private static ExitException failure(final String what, final Path file, final String reason) {
        return new ExitException(ExitCode.CANNOT_WRITE, "cannot write " + what + " to " + file + ": " + reason);
    }

    /** Why a file could not be read or written; the JDK's message is often only the file's name. Returns the reason. */
    public static String reason(final IOException cause) {
        if (cause instanceof NoSuchFileException) {
            return "no such directory";
        }
        if (cause instanceof AccessDeniedException) {
            return "permission denied";
        }
        if (cause instanceof FileSystemException failure && failure.getReason() != null) {
            return failure.getReason();
        }
        return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
    }
}

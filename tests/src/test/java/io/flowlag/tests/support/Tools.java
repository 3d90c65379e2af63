package io.flowlag.tests.support;

import org.opentest4j.AssertionFailedError;
import org.opentest4j.TestAbortedException;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** Finds what a test needs from the machine. */
public final class Tools {
    /** System property: what is missing fails a test instead of skipping it. */
    public static final String REQUIRE_PROPERTY = "flowlag.require.tools";

    private static final String SYSTEM_DIRECTORIES = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";

    private Tools() {
    }

    /**
     * A program, or the test ends here.
     *
     * @param program      its name.
     * @param debianPackage that has it.
     * @return where it is.
     */
    public static Path require(final String program, final String debianPackage) {
        return find(program).orElseThrow(() -> missing(program + " is not installed (Debian package " + debianPackage + ")"));
    }

    /**
     * A program.
     *
     * @param program its name.
     * @return where it is, if it is.
     */
    public static Optional<Path> find(final String program) {
        final String directories = System.getenv().getOrDefault("PATH", "") + File.pathSeparator + SYSTEM_DIRECTORIES;
        return Stream.of(directories.split(File.pathSeparator))
            .filter(directory -> !directory.isEmpty())
            .map(directory -> Path.of(directory, program))
            .filter(Files::isExecutable)
            .findFirst();
    }

    /**
     * The end of a test that lacks something: skipped, or failed where everything is required.
     *
     * @param reason one line.
     * @return to be thrown.
     */
    public static RuntimeException missing(final String reason) {
        if (Boolean.getBoolean(REQUIRE_PROPERTY)) {
            throw new AssertionFailedError(reason + " and " + REQUIRE_PROPERTY + " is set");
        }
        return new TestAbortedException(reason);
    }
}

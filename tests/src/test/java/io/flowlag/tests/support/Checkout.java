package io.flowlag.tests.support;

import java.nio.file.Files;
import java.nio.file.Path;

/** Where the project lies on this machine. */
public final class Checkout {
    private static final Path ROOT = findRoot();

    private Checkout() {
    }

    /** {@return the directory with the parent pom} */
    public static Path root() {
        return ROOT;
    }

    /** {@return the runnable jar; may not exist} */
    public static Path jar() {
        return ROOT.resolve("exporter/target/flowlag.jar");
    }

    private static Path findRoot() {
        Path directory = Path.of("").toAbsolutePath();
        while (directory != null && !Files.isRegularFile(directory.resolve("exporter/pom.xml"))) {
            directory = directory.getParent();
        }
        if (directory == null) {
            throw new IllegalStateException("run the tests inside the checkout");
        }
        return directory;
    }
}

package io.flowlag.tests.support;

import org.junit.jupiter.api.Assumptions;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * A file system for tests that at a power cut loses what was not forced, and fails or is slow on command: the program
 * {@code cutdisk.c}, which says more. Root may mount it. Used by one thread; it is unmounted on close.
 */
public final class CutDisk implements AutoCloseable {
    /** Errors of a disk. */
    public static final int EIO = 5;
    public static final int ENOSPC = 28;
    public static final int EROFS = 30;

    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final Path mountPoint;
    private final Command.Running program;
    private long answers;

    /**
     * Compiles the program and mounts an empty file system, or ends the test where that cannot be.
     *
     * @param directory of the test, for the program.
     * @param seed      of what stays of unforced octets.
     */
    public CutDisk(final Path directory, final int seed) throws IOException {
        Assumptions.assumeTrue(Files.exists(Path.of("/dev/fuse")), "the kernel has no FUSE");
        final Path binary = directory.resolve("cutdisk");
        Command.of(Tools.require("gcc", "gcc"), "-O2", "-o", binary,
            Checkout.root().resolve("tests/src/test/c/cutdisk.c")).run().orFail();
        mountPoint = Files.createDirectory(directory.resolve("disk"));
        program = Command.of(binary, mountPoint, seed).inputFromTest().start();
        awaitAnswer("mounted");
    }

    /** {@return its root} */
    public Path root() {
        return mountPoint;
    }

    /** Changes fail with an error; of files whose names contain a text, or - for all. */
    public void fail(final int errno, final String name) {
        tell("fail " + errno + ' ' + name, "ok");
    }

    /** Reads fail with an error; of files whose names contain a text. */
    public void deny(final int errno, final String name) {
        tell("deny " + errno + ' ' + name, "ok");
    }

    /** The kernel forgets its pages of files whose names contain a text. */
    public void evict(final String name) {
        tell("evict " + name, "evicted");
    }

    /** Each change takes so long. */
    public void slow(final Duration time) {
        tell("slow " + time.toMillis(), "ok");
    }

    /** All is well again. */
    public void heal() {
        fail(0, "-");
        deny(0, "-");
        slow(Duration.ZERO);
    }

    /**
     * Cuts the power after more changes, and kills a process at the same moment.
     *
     * @param changes from now.
     * @param pid     of the process.
     * @param isTorn  whether some unforced pages and names are kept.
     */
    public void cutAfter(final int changes, final long pid, final boolean isTorn) {
        tell("cut " + changes + ' ' + pid + ' ' + (isTorn ? 1 : 0), "armed");
    }

    /** {@return whether the power is cut} */
    public boolean isCut() {
        return lines() > answers;
    }

    /** Mounts what a cut has left; the killed process has ended. */
    public void mountAgain() {
        awaitAnswer("cut");
        tell("mount", "mounted");
    }

    private void tell(final String command, final String answer) {
        program.feed((command + '\n').getBytes(StandardCharsets.US_ASCII));
        awaitAnswer(answer);
    }

    private void awaitAnswer(final String answer) {
        Deadline.await(TIMEOUT, this::isCut, () -> answer + ": " + program.output() + program.errors());
        final String given = program.output().lines().skip(answers++).findFirst().orElseThrow();
        if (!given.equals(answer)) {
            throw new AssertionError(given + " instead of " + answer);
        }
    }

    private long lines() {
        return program.output().chars().filter((character) -> character == '\n').count();
    }

    @Override
    public void close() {
        program.endInput();
        try {
            program.finish();
        } finally {
            program.close();
        }
    }
}

package io.flowlag.exporter.fuzz;

import java.util.Arrays;

/** Where Jazzer, the coverage-guided fuzzer, comes in: {@code bin/fuzz TARGET --guided}. It finds both methods by their names. */
public final class JazzerTarget {
    private static FuzzTarget target;
    private static long inputs;

    private JazzerTarget() {
    }

    /** Takes the target from the system property {@code flowlag.fuzz.target}. */
    public static void fuzzerInitialize() {
        target = FuzzTargets.of(System.getProperty("flowlag.fuzz.target"));
    }

    /**
     * Takes an input.
     *
     * @param input of Jazzer.
     */
    public static void fuzzerTestOneInput(final byte[] input) {
        final byte[] octets = Arrays.copyOf(input, Math.min(input.length, target.maxInputBytes()));
        target.take(octets, octets.length);
        if (++inputs % 4096 == 0) {
            target.check();
        }
    }
}

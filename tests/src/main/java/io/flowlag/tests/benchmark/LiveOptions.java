package io.flowlag.tests.benchmark;

import java.util.ArrayList;
import java.util.List;

/**
 * The options of {@code bin/benchmark live}.
 *
 * @param seconds {@code --seconds 60}: how long packets are sent to each capturer.
 * @param flows   {@code --flows 10000}: at most as many as the ring has packets.
 * @param program {@code --program PATH}: bin/flowlag.
 * @param sender  the command that runs {@link Benchmarks} in another process: this one's Java and class path.
 * @param more    what follows {@code --}: options for flowlag.
 */
record LiveOptions(double seconds, int flows, String program, List<String> sender, List<String> more) {
    /**
     * Reads a command line.
     *
     * @param arguments of it.
     * @return the options.
     * @throws IllegalArgumentException naming what is wrong.
     */
    static LiveOptions of(final String[] arguments) {
        double seconds = 60;
        int flows = 10_000;
        String program = "flowlag";
        List<String> more = List.of();
        for (int i = 0; i < arguments.length; i += 2) {
            if (arguments[i].equals("--")) {
                more = List.of(arguments).subList(i + 1, arguments.length);
                break;
            }
            if (i + 1 == arguments.length) {
                throw new IllegalArgumentException("'" + arguments[i] + "' needs a value");
            }
            switch (arguments[i]) {
                case "--seconds" -> seconds = Double.parseDouble(arguments[i + 1]);
                case "--flows" -> flows = Integer.parseInt(arguments[i + 1]);
                case "--program" -> program = arguments[i + 1];
                default -> throw new IllegalArgumentException(
                    "'" + arguments[i] + "' is no option; bin/benchmark --help says more");
            }
        }
        if (seconds <= 0 || flows < 1 || flows > RingSender.mostFlows()) {
            throw new IllegalArgumentException("--seconds must be above 0, and --flows 1 to " + RingSender.mostFlows());
        }
        return new LiveOptions(seconds, flows, program, ownCommand(), more);
    }

    private static List<String> ownCommand() {
        final List<String> command = new ArrayList<>(List.of(
            ProcessHandle.current().info().command().orElse("java"), "-Xmx256m", "-XX:+UseSerialGC",
            "-Dagrona.disable.bounds.checks=true", "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED",
            "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED"));
        if (Runtime.version().feature() >= 24) {
            command.addAll(List.of("--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED"));
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Benchmarks.class.getName()));
        return command;
    }
}

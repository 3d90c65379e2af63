package io.flowlag.tests.benchmark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The options of {@code bin/benchmark live}.
 *
 * @param seconds   {@code --seconds 60}: how long packets are sent to each capturer.
 * @param warmUp    {@code --warm-up 5}: for how many seconds packets are sent to it before that, which are counted and not
 *                  measured; 0 by default.
 * @param flows     {@code --flows 10000}: at most as many as the ring has packets.
 * @param rate      {@code --rate 400000}: packets a second; 0, the default, for top speed.
 * @param rounds    {@code --rounds 1}: how often all of it is measured, in turn.
 * @param way       {@code --sender live}, the default: packets come from {@link LiveFrameSender}, where the kernel has it, and
 *                  without steering; {@code redirect}: it sends them over the veth pair; {@code ring}: all come from
 *                  {@link RingSender}.
 * @param capturers {@code --capturers flowlag,tcpdump}: which of them, by name; all by default.
 * @param receiver  {@code --steer 1}: the processor that receives packets with receive packet steering, by default the last;
 *                  below 0 for {@code off}, and where there is only one.
 * @param program   {@code --program PATH}: bin/flowlag.
 * @param more      what follows {@code --}: options for flowlag.
 */
record LiveOptions(
    double seconds, double warmUp, int flows, long rate, int rounds, String way, List<String> capturers, int receiver,
    String program, List<String> more) {
    private static final int NOBODY = -1;
    private static final String ALLOWED = "Cpus_allowed_list:";

    /**
     * Reads a command line.
     *
     * @throws IllegalArgumentException naming what is wrong.
     */
    static LiveOptions of(final String[] arguments) {
        double seconds = 60;
        double warmUp = 0;
        int flows = 10_000;
        long rate = 0;
        int rounds = 1;
        String way = "live";
        List<String> capturers = List.of();
        final List<Integer> processors = processors();
        int receiver = processors.size() > 1 ? processors.get(processors.size() - 1) : NOBODY;
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
                case "--warm-up" -> warmUp = Double.parseDouble(arguments[i + 1]);
                case "--flows" -> flows = Integer.parseInt(arguments[i + 1]);
                case "--rate" -> rate = Long.parseLong(arguments[i + 1]);
                case "--rounds" -> rounds = Integer.parseInt(arguments[i + 1]);
                case "--sender" -> way = way(arguments[i + 1]);
                case "--capturers" -> capturers = List.of(arguments[i + 1].split(","));
                case "--steer" -> receiver = receiver(arguments[i + 1], processors);
                case "--program" -> program = arguments[i + 1];
                default -> throw new IllegalArgumentException(
                    "'" + arguments[i] + "' is no option; bin/benchmark --help says more");
            }
        }
        if (seconds <= 0 || warmUp < 0 || flows < 1 || flows > FrameSender.MOST_FRAMES || rate < 0 || rounds < 1) {
            throw new IllegalArgumentException(
                "--seconds must be above 0, --warm-up 0 or more, --flows 1 to " + FrameSender.MOST_FRAMES +
                    ", --rate 0 or more, --rounds 1 or more");
        }
        return new LiveOptions(seconds, warmUp, flows, rate, rounds, way, capturers, receiver, program, more);
    }

    /** {@return whether to compare with receive packet steering too} */
    boolean isSteered() {
        return receiver != NOBODY;
    }

    /** {@return all processors but the one that receives, as {@code taskset -c} reads them} */
    String processorsOfSender() {
        return processors().stream().filter(processor -> processor != receiver).map(String::valueOf)
            .collect(Collectors.joining(","));
    }

    private static String way(final String text) {
        if (!List.of("live", "redirect", "ring").contains(text)) {
            throw new IllegalArgumentException("--sender " + text + ": must be live, redirect or ring");
        }
        return text;
    }

    private static int receiver(final String text, final List<Integer> processors) {
        if (text.equals("off")) {
            return NOBODY;
        }
        for (final int processor : processors) {
            if (processors.size() > 1 && text.equals(Integer.toString(processor))) {
                return processor;
            }
        }
        throw new IllegalArgumentException(
            "--steer " + text + ": must be off, or one of two or more processors; this process has " + processors);
    }

    /** The numbers of the processors that this process may use, as the kernel lists them: 0-3,6. */
    private static List<Integer> processors() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter(line -> line.startsWith(ALLOWED)).map(line -> line.substring(ALLOWED.length()).trim())
                .flatMap(list -> numbers(list).stream()).toList();
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** A list of numbers and of ranges of them. */
    static List<Integer> numbers(final String list) {
        return Arrays.stream(list.split(",")).map(range -> range.split("-")).flatMap(ends -> IntStream
            .rangeClosed(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1])).boxed()).toList();
    }

    /** {@return the command that runs {@link Benchmarks} in another process: this one's Java and class path} */
    static List<String> ownCommand() {
        final List<String> command = new ArrayList<>(List.of(
            ProcessHandle.current().info().command().orElse("java"), "-Xmx256m", "-XX:+UseSerialGC",
            "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED", "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED"));
        if (Runtime.version().feature() >= 24) {
            command.addAll(List.of("--sun-misc-unsafe-memory-access=allow", "--enable-native-access=ALL-UNNAMED"));
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Benchmarks.class.getName()));
        return command;
    }
}

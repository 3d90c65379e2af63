package io.flowlag.exporter.config;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Collects everything that is wrong with a configuration, so that one run shows all of it. Used by one thread. */
final class Problems {
    private record Problem(Origin origin, String message) {
    }

    private final List<Problem> problems = new ArrayList<>();
    private final Set<String> paths = new HashSet<>();
    private boolean inputMissing;

    /** A fault at a place; the message names what and the way out. */
    void add(final Origin origin, final String message) {
        problems.add(new Problem(origin, message));
    }

    /** A fault of a key's value. */
    void add(final Origin origin, final String path, final String text, final String message) {
        paths.add(path);
        final String place = origin.isCommandLine() ? " (" + path + "): " : ": ";
        add(origin, (origin.isCommandLine() ? text : path + "=" + text) + place + message);
    }

    /** Whether a value of a key was found at fault: what was given is then not what the settings have. */
    boolean concern(final String path) {
        return paths.contains(path);
    }

    /** The configuration file itself cannot be read. */
    void addMissingInput(final String message) {
        inputMissing = true;
        add(Origin.file("", 0, 0), message);
    }

    /** Throws if there is anything to complain of. */
    void throwIfAny() {
        if (problems.isEmpty()) {
            return;
        }
        problems.sort(Comparator.comparing((final Problem problem) -> problem.origin().isCommandLine())
            .thenComparing((problem) -> problem.origin().line()).thenComparing((problem) -> problem.origin().column()));
        throw new ConfigurationException(kind(), problems.stream().map(Problems::line).toList());
    }

    private ConfigurationException.Kind kind() {
        if (inputMissing) {
            return ConfigurationException.Kind.NO_INPUT;
        }
        return problems.stream().allMatch((problem) -> problem.origin().isCommandLine()) ?
            ConfigurationException.Kind.USAGE : ConfigurationException.Kind.CONFIGURATION;
    }

    /** One line, whatever control characters a value has. */
    private static String line(final Problem problem) {
        return placed(problem).replaceAll("\\p{Cntrl}", "?");
    }

    private static String placed(final Problem problem) {
        final Origin origin = problem.origin();
        if (origin.isCommandLine()) {
            return origin.option() + "=" + problem.message();
        }
        return origin.isDefault() ? problem.message() : origin + ": " + problem.message();
    }
}

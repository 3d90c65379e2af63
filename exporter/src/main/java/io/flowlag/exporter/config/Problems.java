package io.flowlag.exporter.config;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Collects everything that is wrong with a configuration, so that one run shows all of it; of a file that is no configuration the
 * first {@value #MOST} faults, and how many there are beyond. Used by one thread.
 */
final class Problems {
    /** More faults than anybody mends at once. */
    static final int MOST = 100;
    private static final int MOST_CHARACTERS = 1000;
    private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");

    private record Problem(Origin origin, String message) {
    }

    private final List<Problem> problems = new ArrayList<>();
    private final Set<String> paths = new HashSet<>();
    private boolean inputMissing;
    private long furtherCount;

    /** A fault at a place; the message names what and the way out. */
    void add(final Origin origin, final String message) {
        if (problems.size() < MOST) {
            problems.add(new Problem(origin, message));
        } else {
            furtherCount++;
        }
    }

    /** Whether a further fault is counted alone, so that its message need not be found. */
    boolean isFull() {
        return problems.size() >= MOST;
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
        final List<String> lines = new ArrayList<>(problems.stream().map(Problems::line).toList());
        if (furtherCount > 0) {
            lines.add("and " + furtherCount + " further errors: is it a configuration of flowlag?");
        }
        throw new ConfigurationException(kind(), lines);
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
        final String line = placed(problem);
        final String cut = line.length() <= MOST_CHARACTERS ? line : line.substring(0, MOST_CHARACTERS) + " ...";
        return CONTROL.matcher(cut).replaceAll("?");
    }

    private static String placed(final Problem problem) {
        final Origin origin = problem.origin();
        if (origin.isCommandLine()) {
            return origin.option() + "=" + problem.message();
        }
        return origin.isDefault() ? problem.message() : origin + ": " + problem.message();
    }
}

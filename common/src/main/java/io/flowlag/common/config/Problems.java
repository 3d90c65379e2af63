package io.flowlag.common.config;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Collects the faults of a configuration, so that one run shows all of them. Of a file that is not a configuration it keeps the
 * first {@value #MOST} and the count of the others. Used by one thread.
 */
public final class Problems {
    /** Limit of faults shown. */
    public static final int MOST = 100;
    private static final int MOST_CHARACTERS = 1000;
    private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");

    private record Problem(Origin origin, String message) {
    }

    private final List<Problem> problems = new ArrayList<>();
    private final Set<String> paths = new HashSet<>();
    private boolean inputMissing;
    private long furtherCount;

    /** Adds a fault at a place; the message names fault and remedy. */
    public void add(final Origin origin, final String message) {
        final Problem problem = new Problem(origin, message);
        if (problems.size() >= MOST) {
            furtherCount++;
        } else if (!problems.contains(problem)) { // a value that several segments have is checked with each
            problems.add(problem);
        }
    }

    /** Whether a further fault is only counted, and needs no message. */
    public boolean isFull() {
        return problems.size() >= MOST;
    }

    /** Adds a fault of a key's value. */
    public void add(final Origin origin, final String path, final String text, final String message) {
        paths.add(path);
        final String place = origin.isCommandLine() ? " (" + path + "): " : ": ";
        add(origin, (origin.isCommandLine() ? text : path + "=" + text) + place + message);
    }

    /** Whether a key's value had a fault, so that the settings do not hold the given value. */
    public boolean concern(final String path) {
        return paths.contains(path);
    }

    /** The configuration file cannot be read. */
    public void addMissingInput(final String message) {
        inputMissing = true;
        add(Origin.file("", 0, 0), message);
    }

    /** {@return whether there is no fault} */
    public boolean isEmpty() {
        return problems.isEmpty();
    }

    /** {@return whether a file could not be read} */
    public boolean isInputMissing() {
        return inputMissing;
    }

    /** {@return whether all faults are in options of the command line} */
    public boolean areOfCommandLine() {
        return problems.stream().allMatch((problem) -> problem.origin().isCommandLine());
    }

    /** {@return every fault in a line of its own, in the order of the file} */
    public List<String> lines() {
        final List<String> lines = new ArrayList<>(problems.stream()
            .sorted(Comparator.comparing((final Problem problem) -> problem.origin().isCommandLine())
                .thenComparing((problem) -> problem.origin().line()).thenComparing((problem) -> problem.origin().column()))
            .map(Problems::line).toList());
        if (furtherCount > 0) {
            lines.add("and " + furtherCount + " further errors: is it a configuration of flowlag?");
        }
        return lines;
    }

    /** One line, with control characters of values replaced. */
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

package io.flowlag.common.config;

/**
 * Origin of an effective value. Immutable.
 *
 * @param source the word {@code default}, a file's name, or {@code command line}.
 * @param line   in the file, from 1; 0 where there is no file.
 * @param column in the line, from 1; 0 where there is no file.
 * @param option of the command line that gave the value; empty elsewhere.
 */
public record Origin(String source, int line, int column, String option) {
    /** The value is the default. */
    public static final Origin DEFAULT = new Origin("default", 0, 0, "");

    /** A place in a file; line and column count from 1. */
    public static Origin file(final String file, final int line, final int column) {
        return new Origin(file, line, column, "");
    }

    /** An option of the command line, such as {@code --active}. */
    public static Origin commandLine(final String option) {
        return new Origin("command line", 0, 0, option);
    }

    /** {@return whether the value is a default} */
    public boolean isDefault() {
        return line == 0 && option.isEmpty();
    }

    /** {@return whether an option of the command line gave the value} */
    public boolean isCommandLine() {
        return !option.isEmpty();
    }

    @Override
    public String toString() {
        if (isCommandLine()) {
            return source + " " + option;
        }
        return line == 0 ? source : source + ":" + line + ":" + column;
    }
}

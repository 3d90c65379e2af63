package io.flowlag.tests.lab.report;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Results of an experiment. One thread. */
public final class Results {
    private final List<Table> tables = new ArrayList<>();
    private final List<Plot> plots = new ArrayList<>();
    private final List<Comparison> comparisons = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private final List<Output> outputs = new ArrayList<>();

    /** Writes a file that is neither a table nor a plot. */
    @FunctionalInterface
    public interface FileWriter {
        /**
         * Writes it.
         *
         * @param file to create or replace.
         * @throws IOException if that does not work.
         */
        void write(Path file) throws IOException;
    }

    /**
     * An additional file.
     *
     * @param name of the file, behind that of the experiment.
     */
    public record Output(String name, FileWriter writer) {
    }

    /**
     * Begins a table; equal seeds give equal octets of it.
     *
     * @param name    part of the file's name.
     * @param columns names, with units.
     * @return the table, without rows.
     */
    public Table table(final String name, final String title, final String... columns) {
        final Table table = new Table(name, title, false, List.of(columns));
        tables.add(table);
        return table;
    }

    /**
     * Begins a table of times of this machine.
     *
     * @param name    part of the file's name.
     * @param columns names, with units.
     * @return the table, without rows.
     */
    public Table measured(final String name, final String title, final String... columns) {
        final Table table = new Table(name, title, true, List.of(columns));
        tables.add(table);
        return table;
    }

    /** Adds a plot. */
    public void plot(final Plot plot) {
        plots.add(plot);
    }

    /**
     * Adds a number of the paper and the laboratory's.
     *
     * @param what is compared, with its unit.
     */
    public void compare(final String what, final double paper, final double here) {
        comparisons.add(new Comparison(what, paper, here));
    }

    /** Adds a sentence. */
    public void note(final String sentence) {
        notes.add(sentence);
    }

    /**
     * A table.
     *
     * @throws IllegalArgumentException if there is none.
     */
    public Table named(final String name) {
        return tables.stream().filter(table -> table.name().equals(name)).findFirst().orElseThrow(
            () -> new IllegalArgumentException("no table " + name));
    }

    /** {@return every table} */
    public List<Table> tables() {
        return List.copyOf(tables);
    }

    /** {@return every plot} */
    public List<Plot> plots() {
        return List.copyOf(plots);
    }

    /** {@return every number with the paper's} */
    public List<Comparison> comparisons() {
        return List.copyOf(comparisons);
    }

    /**
     * Adds a file that is written when the tables are.
     *
     * @param name of the file, behind that of the experiment.
     */
    public void output(final String name, final FileWriter writer) {
        outputs.add(new Output(name, writer));
    }

    /** {@return every file besides} */
    public List<Output> outputs() {
        return List.copyOf(outputs);
    }

    /** {@return every sentence} */
    public List<String> notes() {
        return List.copyOf(notes);
    }
}

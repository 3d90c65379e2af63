package io.flowlag.exporter.lab;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/**
 * The experiments behind {@code flowlag lab}. They and the comparators need a plotting library and nothing that measures needs
 * them, so they are not part of the program: their jar, built from the module {@code tests}, is put on the class path and found
 * by {@link java.util.ServiceLoader}. Used by one thread.
 */
public interface Laboratory {
    /** The name that stands for every experiment. */
    String ALL = "all";

    /**
     * One line of the list.
     *
     * @param name    as on the command line.
     * @param source  the paper's figure or table, or the page that the experiment is behind.
     * @param purpose what it does, one line.
     * @param takesFirstSeed whether its seeds can begin elsewhere.
     */
    record Listing(String name, String source, String purpose, boolean takesFirstSeed) {
    }

    /**
     * What to run.
     *
     * @param names        of experiments, each known.
     * @param isAll        whether that is all of them, in one report.
     * @param seeds        how many seeds, from 1; 0 for as many as the scale has.
     * @param firstSeed    of an experiment that takes one; 0 for its own.
     * @param isPaperScale the paper's size, otherwise a small one.
     */
    record Order(
        List<String> names, boolean isAll, int seeds, long firstSeed, boolean isPaperScale, Path directory) {
        /** Copies the names. */
        public Order {
            names = List.copyOf(names);
        }
    }

    /** {@return every experiment, in the order in which they run} */
    List<Listing> listings();

    /**
     * Runs experiments and writes their tables and plots.
     *
     * @param progress takes what is going on.
     * @throws IOException if a file cannot be written.
     */
    void run(Order order, Consumer<String> out, Consumer<String> progress) throws IOException;
}

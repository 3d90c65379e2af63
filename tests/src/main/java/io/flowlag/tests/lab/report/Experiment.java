package io.flowlag.tests.lab.report;

/** An experiment of the laboratory. Stateless: it may run repeatedly and concurrently with others. */
public interface Experiment {
    /** {@return its name on the command line} */
    String name();

    /** {@return the paper's figure or table, or the page that it is behind} */
    String source();

    /** {@return what it does, one line} */
    String purpose();

    /** {@return whether its seeds can begin elsewhere, see {@link Setup#firstSeed(long)}} */
    default boolean takesFirstSeed() {
        return false;
    }

    /**
     * Runs it. Equal setups give equal results, except for tables of times.
     *
     * @param setup size and seeds.
     */
    void run(Setup setup, Results results);

    /**
     * Runs it.
     *
     * @param setup size and seeds.
     */
    default Results run(final Setup setup) {
        final Results results = new Results();
        run(setup, results);
        return results;
    }
}

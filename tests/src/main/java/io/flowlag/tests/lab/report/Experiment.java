package io.flowlag.tests.lab.report;

/** An experiment of the laboratory. Stateless: it may run repeatedly and concurrently with others. */
@FunctionalInterface
public interface Experiment {
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

package io.flowlag.tests.lab.report;

/** An experiment's line in the list. */
public abstract class NamedExperiment implements Experiment {
    private final String name;
    private final String source;
    private final String purpose;

    /**
     * The line.
     *
     * @param source the paper's figure or table, or the page that it is behind.
     */
    protected NamedExperiment(final String name, final String source, final String purpose) {
        this.name = name;
        this.source = source;
        this.purpose = purpose;
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final String source() {
        return source;
    }

    @Override
    public final String purpose() {
        return purpose;
    }
}

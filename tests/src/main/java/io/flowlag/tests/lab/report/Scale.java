package io.flowlag.tests.lab.report;

/** How large experiments are. */
public enum Scale {
    /** The smallest that still shows the ranking of methods; the tests run it. */
    TEST(1),
    /** All experiments in minutes. */
    SMALL(3),
    /** As large as the papers', or as fits. */
    PAPER(10);

    private final int seeds;

    Scale(final int seeds) {
        this.seeds = seeds;
    }

    /** {@return the default number of seeds} */
    public int seeds() {
        return seeds;
    }
}

package io.flowlag.tests.lab.report;

/**
 * A number of a paper and the laboratory's.
 *
 * @param what is compared, with its unit.
 */
public record Comparison(String what, double paper, double here) {
    /** {@return the laboratory's number over the paper's} */
    public double ratio() {
        return here / paper;
    }

    /** {@return one line to read} */
    public String line() {
        return what + ": paper " + Numbers.text(paper) + " / here " + Numbers.text(here) + " / ratio " + Numbers.text(ratio());
    }
}

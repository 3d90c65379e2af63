package io.flowlag.exporter.runtime.doctor;

/**
 * One thing that was looked at. Immutable.
 *
 * @param verdict how it is.
 * @param subject an interface, or a part of the host.
 * @param what    one sentence.
 * @param remedy  a command or a step; empty if nothing is to be done.
 */
public record Finding(Verdict verdict, String subject, String what, String remedy) {
    /** How something is. */
    public enum Verdict {
        /** As it should be. */
        OK,
        /** It may matter, depending on what is measured. */
        NOTE,
        /** Numbers would be wrong or missing, or nothing starts. */
        BAD
    }

    static Finding ok(final String subject, final String what) {
        return new Finding(Verdict.OK, subject, what, "");
    }

    static Finding note(final String subject, final String what, final String remedy) {
        return new Finding(Verdict.NOTE, subject, what, remedy);
    }

    static Finding bad(final String subject, final String what, final String remedy) {
        return new Finding(Verdict.BAD, subject, what, remedy);
    }
}

package io.flowlag.rli.receiver;

/** How the delay of a regular packet is estimated from references (RLI paper, section III-C). */
public enum Estimator {
    /** Between the left and the right reference: RLI. Packets wait in the buffer for the right one. */
    LINEAR,
    /** The left reference's delay: RLI-L. No buffer. */
    LEFT
}

package io.flowlag.rli.receiver;

/** Where the third term of the paper's equation (1) comes from: the time that a packet's own octets take. */
public enum SerialisationMode {
    /** None: correct for points that stamp packets before they are on the link. */
    NONE,
    /** From the configured capacity, as in the paper: right for a queue's model. */
    CAPACITY,
    /** From the references' own delays, when they differ in size; none until enough of them did. */
    FITTED,
    /** From the capacity if known, else fitted; at most the limit from the references' least delays. */
    AUTO
}

package io.flowlag.network.topology;

/** A topology that cannot be used: the message names the place and what is wrong there. */
public final class TopologyException extends Exception {
    private static final long serialVersionUID = 1;

    /** With a message of one line. */
    public TopologyException(final String message) {
        super(message);
    }
}

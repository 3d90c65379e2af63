package io.flowlag.ipfix.transport;

/**
 * The common part of every transport: name, state and last error, readable by any thread, and its count of connections. Allocates
 * the text of errors.
 */
abstract class TransportSupport implements Transport {
    private final String name;
    private volatile TransportState state = TransportState.DISCONNECTED;
    private volatile String lastError = "";
    private long connectionCount;

    TransportSupport(final String name) {
        this.name = name;
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final TransportState state() {
        return state;
    }

    @Override
    public final String lastError() {
        return lastError;
    }

    @Override
    public final long connectionCount() {
        return connectionCount;
    }

    final void state(final TransportState newState) {
        if (newState == TransportState.CONNECTED) {
            connectionCount++;
        }
        state = newState;
    }

    final void error(final String what, final Throwable cause) {
        final String reason = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
        error(what + ": " + reason);
    }

    final void error(final String text) {
        lastError = text;
    }

    @Override
    public String toString() {
        return name;
    }
}

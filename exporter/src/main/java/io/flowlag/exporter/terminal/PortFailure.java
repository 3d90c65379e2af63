package io.flowlag.exporter.terminal;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;

import java.io.IOException;
import java.net.BindException;
import java.util.Locale;

/** Describes a port that cannot be bound. Stateless. */
public final class PortFailure {
    private PortFailure() {
    }

    /** The cause and the remedy for a key and its value; without permission {@link ExitCode#NO_PERMISSION}. */
    public static ExitException of(final String what, final IOException cause) {
        final String reason = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
        if (cause instanceof BindException && reason.toLowerCase(Locale.ROOT).contains("permission denied")) {
            return new ExitException(ExitCode.NO_PERMISSION,
                what + ": a port below 1024 needs the capability CAP_NET_BIND_SERVICE: take a higher port, or let systemd give " +
                "it");
        }
        if (cause instanceof BindException && reason.toLowerCase(Locale.ROOT).contains("cannot assign")) {
            return new ExitException(
                ExitCode.CONFIGURATION, what + ": " + reason + "; no interface of this host has that address");
        }
        return new ExitException(
            ExitCode.CONFIGURATION, what + ": " + reason + "; stop what holds the port, or take another one");
    }
}

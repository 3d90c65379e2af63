package io.flowlag.exporter.exchange.link;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.SketchLink;
import io.flowlag.exporter.status.Heartbeat;
import io.flowlag.exporter.status.StageErrors;
import io.flowlag.exporter.terminal.PortFailure;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.SleepingMillisIdleStrategy;
import org.agrona.concurrent.SystemNanoClock;

import java.io.IOException;
import java.net.BindException;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The process's end of the exchange, if any, and the thread that runs it.
 *
 * @param agent to be run by a thread of its own.
 * @param link  to the metering thread.
 * @param keys  keys and certificates that the thread uses.
 */
public record ExchangeEnd(Agent agent, SketchLink link, AtomicReference<PeerSecurity> keys) {
    private static final long LINGER_NS = 1_000_000_000L;
    private static final int SEND_BUFFER_BYTES = 256 << 10;
    /** More than messages of this version have. */
    private static final int MAX_MESSAGE_BYTES = 64 << 10;

    /**
     * Reads keys and opens the port of the configuration.
     *
     * @param ends of the process, which this one joins.
     * @return the end; null if the process has none.
     * @throws ExitException if a key cannot be read or the port not be bound; the message says which.
     */
    public static ExchangeEnd open(final ExporterConfig config, final ClockError clockError, final ProcessEnds ends) {
        final ExporterConfig.Exchange exchange = config.exchange();
        if (exchange.listen() == null && exchange.connect() == null) {
            return null;
        }
        final AtomicReference<PeerSecurity> keys = new AtomicReference<>(read(exchange));
        try {
            if (exchange.listen() != null) {
                final ExchangeReceiver receiver =
                    new ExchangeReceiver(config, keys::get, TcpChannel.NETWORK, ends, SystemNanoClock.INSTANCE);
                return new ExchangeEnd(receiver, receiver, keys);
            }
            final ExchangeSender sender = new ExchangeSender(
                config, keys::get, TcpChannel.NETWORK, ends, SystemNanoClock.INSTANCE, clockError);
            return new ExchangeEnd(sender, sender, keys);
        } catch (final BindException ex) {
            throw PortFailure.of(name(exchange), ex);
        } catch (final IOException | IllegalArgumentException ex) {
            throw new ExitException(ExitCode.CONFIGURATION, name(exchange) + ": " + ex.getMessage());
        }
    }

    /** Reads keys and certificates; throws an {@link ExitException} that names the file if one cannot be read. */
    public static PeerSecurity read(final ExporterConfig.Exchange exchange) {
        try {
            return PeerSecurity.read(exchange);
        } catch (final IOException ex) {
            throw new ExitException(ExitCode.CONFIGURATION, name(exchange) + ": " + ex.getMessage());
        }
    }

    private static String name(final ExporterConfig.Exchange exchange) {
        return exchange.listen() != null ? "exchange.listen=" + exchange.listen() : "exchange.connect=" + exchange.connect();
    }

    /**
     * Uses keys and certificates from now on. Sessions end whose key is no longer one of them, or whose certificate is no longer
     * trusted; without a difference nothing happens. Any thread.
     */
    public void renew(final PeerSecurity newer) {
        if (!newer.equals(keys.get())) {
            keys.set(newer);
        }
    }

    /** {@return the limits of a connection} */
    static ConnectionLimits limits(final ExporterConfig config) {
        final ExporterConfig.ExchangeLimits limits = config.exchange().limits();
        return new ConnectionLimits(limits.handshakeTimeoutNs(), limits.messageTimeoutNs(), limits.idleTimeoutNs(),
            SEND_BUFFER_BYTES, MAX_MESSAGE_BYTES, LINGER_NS);
    }

    /** Starts the thread. Returns the thread; to be closed. */
    public AgentRunner start(final StageErrors errors) {
        final Heartbeat heartbeat = new Heartbeat(agent, Heartbeat.STUCK_NS, errors, () -> { });
        final boolean takesTimes = agent instanceof ExchangeReceiver receiver && receiver.hasReflector();
        final AgentRunner runner = new AgentRunner(
            takesTimes ? new SleepingMillisIdleStrategy(1) : Heartbeat.pauses(), heartbeat, null, heartbeat);
        AgentRunner.startOnThread(runner, (work) -> {
            final Thread thread = new Thread(work, agent.roleName());
            thread.setDaemon(true);
            return thread;
        });
        return runner;
    }
}

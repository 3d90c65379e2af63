package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.SharedKey;
import io.flowlag.ipfix.transport.Endpoint;
import io.flowlag.ipfix.transport.TlsCredentials;
import org.agrona.concurrent.EpochNanoClock;
import org.agrona.concurrent.NanoClock;

import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Supplier;

/** Builds a connector for a test; every value has a default. */
final class ConnectorSetup {
    private final Network network;
    private final Endpoint receiver;
    private final SenderHandler handler;
    private final NanoClock clock;
    private EpochNanoClock epochClock;
    private final long lingerNs;
    private Callable<List<InetSocketAddress>> resolver;
    private long pointId;
    private Supplier<PeerSecurity> security;
    private int intervals = 16;
    private long bytes = 64L << 20;
    private long waitNs = 30_000_000_000L;
    private long minBackoffNs = 200_000_000L;
    private long maxBackoffNs = 10_000_000_000L;

    ConnectorSetup(
        final Network network, final Endpoint receiver, final SenderHandler handler, final NanoClock clock, final long lingerNs) {
        this.network = network;
        this.receiver = receiver;
        this.handler = handler;
        this.clock = clock;
        epochClock = clock::nanoTime;
        this.lingerNs = lingerNs;
        security(new PeerSecurity(null, null, List.of(), List.of()));
        resolver = receiver::resolve;
    }

    ConnectorSetup resolver(final Callable<List<InetSocketAddress>> value) {
        resolver = value;
        return this;
    }

    ConnectorSetup pointId(final long value) {
        pointId = value;
        return this;
    }

    ConnectorSetup tls(final TlsCredentials value, final String name, final List<String> allowedNames) {
        return security(new PeerSecurity(value, name, allowedNames, List.of()));
    }

    ConnectorSetup security(final PeerSecurity value) {
        return security(() -> value);
    }

    ConnectorSetup security(final Supplier<PeerSecurity> value) {
        security = value;
        return this;
    }

    ConnectorSetup key(final SharedKey value) {
        return security(new PeerSecurity(null, null, List.of(), value == null ? List.of() : List.of(value)));
    }

    ConnectorSetup backoff(final long minNs, final long maxNs) {
        minBackoffNs = minNs;
        maxBackoffNs = maxNs;
        return this;
    }

    ConnectorSetup waiting(final int maxIntervals, final long maxBytes, final long maxWaitNs) {
        intervals = maxIntervals;
        bytes = maxBytes;
        waitNs = maxWaitNs;
        return this;
    }

    /** The clock of packets; the default is the other one, and null is that of a card. */
    ConnectorSetup epochClock(final EpochNanoClock value) {
        epochClock = value == null ? ExchangeConnection.UNKNOWN_TIME : value;
        return this;
    }

    ExchangeConnector connector() {
        return new ExchangeConnector(
            new ConnectorOptions(receiver, new PointRun(pointId, new SecureRandom().nextLong()), security,
                ExchangeFixture.limits(lingerNs), intervals, bytes, waitNs, 0, minBackoffNs, maxBackoffNs),
            handler, new ExchangeCounters(), network, resolver, clock, epochClock);
    }
}

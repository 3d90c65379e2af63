package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import io.flowlag.exporter.exchange.wire.SharedKey;
import io.flowlag.ipfix.transport.TlsCredentials;
import org.agrona.concurrent.NanoClock;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.util.List;
import java.util.function.Supplier;

/** Builds a listener for a test; every value has a default. */
final class ListenerSetup {
    private final Network network;
    private final ReceiverHandler handler;
    private final NanoClock clock;
    private final long lingerNs;
    private InetSocketAddress address;
    private ExchangeSettings settings = ExchangeFixture.settings(1, 0);
    private Supplier<PeerSecurity> security;
    private List<Long> senders = List.of();
    private int windowIntervals = 64;
    private long deadlineNs = 5_000_000_000L;

    ListenerSetup(
        final Network network, final InetSocketAddress address, final ReceiverHandler handler, final NanoClock clock,
        final long lingerNs) {
        this.network = network;
        this.address = address;
        this.handler = handler;
        this.clock = clock;
        this.lingerNs = lingerNs;
        security(new PeerSecurity(null, null, List.of(), List.of()));
    }

    ListenerSetup address(final InetSocketAddress value) {
        address = value;
        return this;
    }

    InetSocketAddress address() {
        return address;
    }

    ListenerSetup settings(final ExchangeSettings value) {
        settings = value;
        return this;
    }

    ListenerSetup tls(final TlsCredentials value, final List<String> allowedNames) {
        return security(new PeerSecurity(value, null, allowedNames, List.of()));
    }

    ListenerSetup security(final PeerSecurity value) {
        return security(() -> value);
    }

    ListenerSetup security(final Supplier<PeerSecurity> value) {
        security = value;
        return this;
    }

    ListenerSetup key(final SharedKey value) {
        return security(new PeerSecurity(null, null, List.of(), value == null ? List.of() : List.of(value)));
    }

    ListenerSetup ledger(final int intervals, final long valueNs) {
        windowIntervals = intervals;
        deadlineNs = valueNs;
        return this;
    }

    ListenerSetup senders(final List<Long> pointIds) {
        senders = pointIds;
        return this;
    }

    ExchangeListener listener() throws IOException {
        return new ExchangeListener(
            new ListenerOptions(
                address, new PointRun(0, new SecureRandom().nextLong()), security, ExchangeFixture.limits(lingerNs), senders, 16,
                64, windowIntervals, deadlineNs, 64L << 20),
            settings, handler, new ExchangeCounters(), network, clock, clock::nanoTime);
    }
}

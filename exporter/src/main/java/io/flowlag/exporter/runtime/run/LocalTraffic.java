package io.flowlag.exporter.runtime.run;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.HostPort;
import io.flowlag.exporter.pipeline.OwnTraffic;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Identifies the process's own export traffic on this host, whose addresses may change. One thread at a time asks the name
 * servers; any thread may ask for changes. Allocates at each call.
 */
final class LocalTraffic {
    private static final Logger LOG = LoggerFactory.getLogger(LocalTraffic.class);

    private final Supplier<List<InetAddress>> addresses;
    private volatile Set<InetAddress> known = Set.of();

    /** Uses this host's addresses. */
    LocalTraffic() {
        this(LocalTraffic::localAddresses);
    }

    /** Uses the addresses that this host has at the time of a call. */
    LocalTraffic(final Supplier<List<InetAddress>> addresses) {
        this.addresses = addresses;
    }

    /** {@return whether this host's addresses have changed since own packets were last identified} */
    boolean isChanged() {
        return !Set.copyOf(addresses.get()).equals(known);
    }

    /** {@return the addresses of this host, the destinations and the exchange; unresolvable names are logged and left out} */
    OwnTraffic of(final ExporterConfig config) {
        known = Set.copyOf(addresses.get());
        final List<InetSocketAddress> tcp = new ArrayList<>();
        final List<InetSocketAddress> udp = new ArrayList<>();
        for (final ExporterConfig.Destination destination : config.exporting().destinations()) {
            final ExporterConfig.Address address = destination.address();
            if (address.transport() != ExporterConfig.Transport.FILE) {
                add(address.uri(), address.host(), address.port(),
                    address.transport() == ExporterConfig.Transport.UDP ? udp : tcp);
            }
        }
        final List<HostPort> served = new ArrayList<>();
        for (final ExporterConfig segment : config.segments()) {
            final HostPort receiver = segment.exchange().connect();
            if (receiver != null) {
                add("exchange.connect=" + receiver, receiver.host(), receiver.port(), tcp);
            }
            if (segment.exchange().listen() != null) {
                served.add(segment.exchange().listen());
            }
        }
        return OwnTraffic.of(tcp, udp, known, served.stream().mapToInt(HostPort::port).toArray());
    }

    private static void add(final String name, final String host, final int port, final List<InetSocketAddress> remote) {
        try {
            for (final InetAddress address : InetAddress.getAllByName(host)) {
                remote.add(new InetSocketAddress(address, port));
            }
        } catch (final IOException ex) {
            LOG.warn("{}: cannot resolve {} yet; until a reload its traffic counts as a flow", name, ex.getMessage());
        }
    }

    private static List<InetAddress> localAddresses() {
        try {
            return NetworkInterface.networkInterfaces().flatMap(NetworkInterface::inetAddresses).toList();
        } catch (final IOException ex) {
            LOG.warn("cannot list the addresses of this host, own traffic counts as flows: {}", ex.getMessage());
            return List.of();
        }
    }
}

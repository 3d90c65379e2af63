package io.flowlag.exporter.process;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.pipeline.OwnTraffic;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.util.ArrayList;
import java.util.List;

/** Finds out what the process's own export traffic will look like on this host. */
final class LocalTraffic {
    private static final Logger LOG = LoggerFactory.getLogger(LocalTraffic.class);

    private LocalTraffic() {
    }

    /**
     * What tells own packets.
     *
     * @param destinations of the configuration; names that cannot be resolved now are told of and left out.
     * @return the addresses of this host and of the destinations.
     */
    static OwnTraffic of(final List<ExporterConfig.Destination> destinations) {
        final List<InetSocketAddress> remote = new ArrayList<>();
        for (final ExporterConfig.Destination destination : destinations) {
            if (destination.transport() == ExporterConfig.Transport.FILE) {
                continue;
            }
            try {
                for (final InetAddress address : InetAddress.getAllByName(destination.host())) {
                    remote.add(new InetSocketAddress(address, destination.port()));
                }
            } catch (final IOException ex) {
                LOG.warn("{}: cannot resolve {} yet; until a reload its traffic counts as a flow",
                    destination.uri(), ex.getMessage());
            }
        }
        return OwnTraffic.of(remote, localAddresses());
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

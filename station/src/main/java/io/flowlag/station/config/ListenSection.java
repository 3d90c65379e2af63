package io.flowlag.station.config;

import io.flowlag.common.config.BadValueException;
import io.flowlag.common.config.ConfigNode;
import io.flowlag.common.config.Problems;
import io.flowlag.common.config.Sections;
import io.flowlag.ipfix.collect.ListenAddress;
import io.flowlag.ipfix.collect.SessionKind;
import io.flowlag.ipfix.transport.Endpoint;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads the addresses that records are received on. Used by one thread. */
final class ListenSection {
    private static final String LISTEN = "udp://HOST:PORT, tcp://HOST:PORT or " +
        "tls://HOST:PORT?certificate=FILE&key=FILE&authorities=FILE";

    private final Path file;
    private final Problems problems;
    private final Sections sections;

    ListenSection(final Path file, final Problems problems) {
        this.file = file;
        this.problems = problems;
        sections = new Sections(problems);
    }

    /** {@return addresses of a list; loopback without one} */
    List<StationConfig.Listener> read(final ConfigNode.Entry entry) {
        final List<StationConfig.Listener> listeners = new ArrayList<>();
        if (entry == null) {
            listeners.add(new StationConfig.Listener(
                SessionKind.UDP, new InetSocketAddress(InetAddress.getLoopbackAddress(), Endpoint.IPFIX_PORT), null));
        }
        for (final ConfigNode.Scalar text : sections.items("", entry)) {
            try {
                listeners.add(listener(text.text()));
            } catch (final BadValueException ex) {
                problems.add(text.origin(), "listen", text.text(), ex.getMessage());
            }
        }
        return listeners;
    }

    private StationConfig.Listener listener(final String text) throws BadValueException {
        final int query = text.indexOf('?');
        try {
            final ListenAddress address = ListenAddress.parse(query < 0 ? text : text.substring(0, query));
            return new StationConfig.Listener(
                address.kind(), address.resolve(), credentials(address.kind(), query < 0 ? null : text.substring(query + 1)));
        } catch (final IllegalArgumentException ex) {
            throw new BadValueException("is no address to receive on: write " + LISTEN);
        } catch (final UnknownHostException ex) {
            throw new BadValueException("there is no such host: write an address of this machine");
        }
    }

    private StationConfig.Credentials credentials(final SessionKind kind, final String query) throws BadValueException {
        if (kind != SessionKind.TLS) {
            if (query != null) {
                throw new BadValueException("only tls:// takes files: write " + LISTEN);
            }
            return null;
        }
        final Map<String, Path> files = new HashMap<>();
        for (final String each : query == null ? new String[0] : query.split("&")) {
            final int equals = each.indexOf('=');
            files.put(equals < 0 ? each : each.substring(0, equals), file.resolveSibling(each.substring(equals + 1)));
        }
        if (!files.keySet().equals(Set.of("certificate", "key", "authorities"))) {
            throw new BadValueException("TLS needs certificate, key and authorities: write " + LISTEN);
        }
        return new StationConfig.Credentials(files.get("certificate"), files.get("key"), files.get("authorities"));
    }
}

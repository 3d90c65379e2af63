package io.flowlag.exporter.config;

import io.flowlag.common.config.BadValueException;
import io.flowlag.common.config.Names;
import io.flowlag.exporter.config.ExporterConfig.Transport;
import io.flowlag.ipfix.transport.Endpoint;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The address of a collector or file: {@code udp://host:port}, {@code tcp://host:port}, {@code tls://host:port} or {@code
 * file:PATH}, with an optional query. Immutable.
 *
 * @param text  the address without the query, its port written out.
 * @param host  name or address without brackets; null for a file.
 * @param port  1 to 65535; 0 for a file.
 * @param file  the path of a file; null otherwise.
 * @param query names and values after the question mark, in order.
 */
public record DestinationUri(
    String text, Transport transport, String host, int port, Path file, List<Map.Entry<String, String>> query) {
    private static final Pattern HOST_NAME = Pattern.compile("[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_.])?");
    private static final Pattern IPV6_ADDRESS = Pattern.compile("[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(%[A-Za-z0-9._-]+)?");

    /** Parses an address. If it is invalid, the message of the exception names the remedy. */
    public static DestinationUri of(final String uri) {
        try {
            return parse(uri);
        } catch (final BadValueException ex) {
            throw new IllegalArgumentException(uri + ": " + ex.getMessage(), ex);
        }
    }

    static DestinationUri parse(final String uri) throws BadValueException {
        final int queryIndex = uri.indexOf('?');
        final String address = queryIndex < 0 ? uri : uri.substring(0, queryIndex);
        final List<Map.Entry<String, String>> query = queryIndex < 0 ? List.of() : query(uri.substring(queryIndex + 1));
        final int colonIndex = address.indexOf(':');
        final String scheme = colonIndex < 0 ? "" : address.substring(0, colonIndex).toLowerCase(Locale.ROOT);
        final Transport transport = transport(scheme, address);
        final String rest = address.substring(colonIndex + 1);
        return transport == Transport.FILE ? file(rest, query) : endpoint(transport, scheme, rest, query);
    }

    private static Transport transport(final String scheme, final String address) throws BadValueException {
        for (final Transport transport : Transport.values()) {
            if (ValueTypes.name(transport).equals(scheme)) {
                return transport;
            }
        }
        if (address.contains("://")) {
            throw new BadValueException("'" + scheme + "' is no transport: use udp, tcp, tls or file" +
                Names.didYouMean(scheme, List.of("udp", "tcp", "tls", "file")));
        }
        throw new BadValueException(address.contains("/") ? "has no transport: for a file write file:" + address :
            "has no transport: write udp://" + address + ", tcp://" + address + ", tls://" + address + " or file:" + address);
    }

    private static DestinationUri file(final String rest, final List<Map.Entry<String, String>> query) throws BadValueException {
        final String path = rest.startsWith("//") ? rest.substring(2) : rest;
        if (path.isBlank()) {
            throw new BadValueException("has no path: write file:flows.ipfix");
        }
        try {
            return new DestinationUri("file:" + path, Transport.FILE, null, 0, Path.of(path), query);
        } catch (final InvalidPathException ex) {
            throw new BadValueException("is no path: " + ex.getReason());
        }
    }

    private static DestinationUri endpoint(final Transport transport, final String scheme, final String rest,
        final List<Map.Entry<String, String>> query) throws BadValueException {
        if (!rest.startsWith("//")) {
            throw new BadValueException("needs two slashes: write " + scheme + "://" + rest);
        }
        final String authority = rest.endsWith("/") && rest.length() > 2 ? rest.substring(2, rest.length() - 1) :
            rest.substring(2);
        final int hostEnd = authority.startsWith("[") ? authority.indexOf(']') + 1 : hostEnd(authority, scheme);
        final String host = host(authority.substring(0, hostEnd), scheme);
        final int port = port(authority.substring(hostEnd), transport);
        final String shown = host.contains(":") ? "[" + host + "]" : host;
        return new DestinationUri(scheme + "://" + shown + ":" + port, transport, host, port, null, query);
    }

    private static int hostEnd(final String authority, final String scheme) throws BadValueException {
        final int colonIndex = authority.indexOf(':');
        if (colonIndex != authority.lastIndexOf(':')) {
            throw new BadValueException("an IPv6 address needs brackets: write " + scheme + "://[" + authority + "]");
        }
        return colonIndex < 0 ? authority.length() : colonIndex;
    }

    private static String host(final String written, final String scheme) throws BadValueException {
        if (written.isEmpty()) {
            throw new BadValueException("has no host: write " + scheme + "://HOST:PORT");
        }
        final boolean inBrackets = written.startsWith("[");
        final String host = inBrackets ? written.substring(1, written.length() - 1) : written;
        if (!(inBrackets ? IPV6_ADDRESS : HOST_NAME).matcher(host).matches()) {
            throw new BadValueException("'" + host + "' is no " + (inBrackets ? "IPv6 address" : "host") + ": write " + scheme +
                "://HOST:PORT, an IPv6 address in brackets, and nothing between port and question mark");
        }
        return host;
    }

    private static int port(final String written, final Transport transport) throws BadValueException {
        if (written.isEmpty()) {
            return transport == Transport.TLS ? Endpoint.IPFIX_TLS_PORT : Endpoint.IPFIX_PORT;
        }
        if (!written.matches(":[0-9]{1,5}")) {
            throw new BadValueException("'" + written + "' is no port: write a colon and 1 to 65535");
        }
        final int port = Integer.parseInt(written.substring(1));
        if (port < 1 || port > 65535) {
            throw new BadValueException("port " + port + " must be 1 to 65535");
        }
        return port;
    }

    private static List<Map.Entry<String, String>> query(final String written) throws BadValueException {
        final List<Map.Entry<String, String>> query = new ArrayList<>();
        for (final String part : written.split("&")) {
            final int equalsIndex = part.indexOf('=');
            if (equalsIndex <= 0) {
                throw new BadValueException("'" + part + "' after the question mark: write KEY=VALUE, joined by &");
            }
            query.add(Map.entry(part.substring(0, equalsIndex), part.substring(equalsIndex + 1)));
        }
        return query;
    }
}

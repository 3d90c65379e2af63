package io.flowlag.exporter.listing;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.flowlag.common.config.Prefix;

import java.util.Locale;
import java.util.StringJoiner;

/**
 * What the packets of a row have in common. Immutable. Null and {@link #NONE} say that the record has no such field, or that it
 * is not part of the grouping.
 *
 * @param groupApplication of a group by application.
 */
public record RowKey(
    Prefix source, Prefix destination, int protocol, int sourcePort, int destinationPort, int dscp, long segmentId,
    @JsonInclude(JsonInclude.Include.NON_NULL) String groupApplication) {
    /** No value. */
    public static final int NONE = -1;

    /** Of a record. */
    public RowKey(
        final Prefix source, final Prefix destination, final int protocol, final int sourcePort, final int destinationPort,
        final int dscp, final long segmentId) {
        this(source, destination, protocol, sourcePort, destinationPort, dscp, segmentId, null);
    }

    /** {@return the name of the application, by port; null if there is none} */
    String application() {
        return groupApplication != null ? groupApplication : Applications.name(protocol, sourcePort, destinationPort);
    }

    /** {@return in a line: both ends of a flow, or the parts of a group by name} */
    public String text() {
        if (source != null && destination != null && sourcePort >= 0 && destinationPort >= 0 && protocol >= 0) {
            return end(source, sourcePort) + " > " + end(destination, destinationPort) + " " +
                Protocols.name(protocol).toLowerCase(Locale.ROOT);
        }
        final StringJoiner parts = new StringJoiner("  ");
        part(parts, "src", source == null ? null : RowFields.text(source));
        part(parts, "dst", destination == null ? null : RowFields.text(destination));
        part(parts, "proto", protocol < 0 ? null : Protocols.name(protocol));
        part(parts, "sport", sourcePort < 0 ? null : sourcePort);
        part(parts, "dport", destinationPort < 0 ? null : destinationPort);
        part(parts, "app", groupApplication);
        part(parts, "dscp", dscp < 0 ? null : dscp);
        part(parts, "segment", segmentId < 0 ? null : segmentId);
        return parts.length() == 0 ? "all" : parts.toString();
    }

    private static void part(final StringJoiner parts, final String name, final Object value) {
        if (value != null) {
            parts.add(name + " " + value);
        }
    }

    private static String end(final Prefix address, final int port) {
        final String text = RowFields.text(address);
        final String host = address.isIpv6() ? "[" + text + "]" : text;
        return port == 0 ? host : host + ":" + port;
    }
}

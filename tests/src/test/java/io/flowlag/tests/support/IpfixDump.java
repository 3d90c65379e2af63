package io.flowlag.tests.support;

import java.nio.file.Path;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** libfixbuf's ipfixDump: reads a stream of IPFIX Messages from a file. */
public final class IpfixDump {
    private static final Pattern FIELD = Pattern.compile("\\t\\(.*?\\)\\s+(\\S+) : (.*)");
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss.SSS", Locale.ROOT);

    private IpfixDump() {
    }

    /**
     * Reads a file.
     *
     * @param file of IPFIX Messages one after the other.
     * @return the flows, and everything that the tool wrote to standard error.
     */
    public static Reception read(final Path file) {
        final Command.Result dump =
            Command.of(Tools.require("ipfixDump", "libfixbuf-tools"), "--in", file, "--data", "--rfc5610").run();
        final List<Flow> flows = new ArrayList<>();
        Map<String, String> fields = new HashMap<>();
        for (final String line : (Iterable<String>) dump.output().lines()::iterator) {
            if (line.startsWith("--- ")) {
                addFlow(flows, fields);
                fields = new HashMap<>();
            }
            final Matcher field = FIELD.matcher(line);
            if (field.matches()) {
                fields.put(field.group(1), field.group(2).trim());
            }
        }
        addFlow(flows, fields);
        return new Reception(flows, dump.errorLines());
    }

    private static void addFlow(final List<Flow> flows, final Map<String, String> fields) {
        if (fields.containsKey("octetDeltaCount")) {
            final boolean ipv4 = fields.containsKey("sourceIPv4Address");
            flows.add(new Flow(
                fields.get(ipv4 ? "sourceIPv4Address" : "sourceIPv6Address"),
                fields.get(ipv4 ? "destinationIPv4Address" : "destinationIPv6Address"),
                (int) number(fields, "protocolIdentifier"),
                (int) number(fields, "sourceTransportPort"),
                (int) number(fields, "destinationTransportPort"),
                number(fields, "packetDeltaCount"),
                number(fields, "octetDeltaCount"),
                timeMs(fields.get("flowStartMilliseconds")),
                timeMs(fields.get("flowEndMilliseconds"))));
        }
    }

    private static long number(final Map<String, String> fields, final String name) {
        return Long.parseLong(fields.getOrDefault(name, "0"));
    }

    private static long timeMs(final String text) {
        return LocalDateTime.parse(text, TIME).toInstant(ZoneOffset.UTC).toEpochMilli();
    }
}

package io.flowlag.tests.support;

import org.xml.sax.Attributes;
import org.xml.sax.SAXException;
import org.xml.sax.helpers.DefaultHandler;

import javax.xml.parsers.ParserConfigurationException;
import javax.xml.parsers.SAXParserFactory;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** tshark: decodes the IPFIX Messages in a capture of UDP or TCP traffic. */
public final class Tshark {
    private static final Duration TIMEOUT = Duration.ofMinutes(5);

    private Tshark() {
    }

    /**
     * Decodes a capture as IPFIX.
     *
     * @param capture to read.
     * @param port    of the collector in it.
     * @return the flows, and what tshark marks as malformed, out of sequence or not decodable.
     */
    public static Reception read(final Path capture, final int port) {
        final Command.Result result = Command.of(Tools.require("tshark", "tshark"), "-n", "-r", capture,
            "-d", "udp.port==" + port + ",cflow", "-d", "tcp.port==" + port + ",cflow", "-T", "pdml")
            .environment("TZ", "UTC").timeout(TIMEOUT).run().orFail();
        final PdmlHandler handler = new PdmlHandler();
        try {
            SAXParserFactory.newInstance().newSAXParser().parse(
                new org.xml.sax.InputSource(new StringReader(result.output())), handler);
        } catch (final SAXException | ParserConfigurationException | IOException ex) {
            throw new AssertionError("tshark's PDML", ex);
        }
        return new Reception(handler.flows, handler.complaints);
    }

    /**
     * Packets of a capture that match a filter. Dissectors that take the generator's payload for an application's are off.
     *
     * @param capture to read.
     * @param filter  a display filter.
     * @return one line a packet.
     */
    public static List<String> matching(final Path capture, final String filter) {
        return Command.of(Tools.require("tshark", "tshark"), "-n", "-r", capture, "-Y", filter,
            "-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE",
            "--disable-protocol", "ntp", "--disable-protocol", "smpp")
            .timeout(TIMEOUT).run().orFail().output().lines().toList();
    }

    /** Takes the fields of each data record, which PDML nests in a field shown as {@code Flow N}. */
    private static final class PdmlHandler extends DefaultHandler {
        private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("MMM d, yyyy HH:mm:ss.SSSSSSSSS 'UTC'", Locale.US);

        private final List<Flow> flows = new ArrayList<>();
        private final List<String> complaints = new ArrayList<>();
        private final Map<String, String> record = new HashMap<>();
        private int depth;
        private int recordDepth;
        private int messageDepth;

        @Override
        public void startElement(final String uri, final String local, final String element, final Attributes attributes) {
            depth++;
            final String name = attributes.getValue("name");
            final String shown = attributes.getValue("show");
            if (recordDepth == 0 && "field".equals(element) && shown != null && shown.matches("Flow \\d+")) {
                recordDepth = depth;
            } else if (recordDepth > 0 && name != null) {
                record.putIfAbsent(name, shown);
            }
            if (messageDepth == 0 && "cflow".equals(name)) {
                messageDepth = depth;
            }
            if (name != null && isComplaint(name)) {
                complaints.add(name + ": " + attributes.getValue("showname"));
            }
        }

        @Override
        public void endElement(final String uri, final String local, final String element) {
            if (depth == recordDepth) {
                addFlow();
                record.clear();
                recordDepth = 0;
            }
            messageDepth = depth == messageDepth ? 0 : messageDepth;
            depth--;
        }

        private boolean isComplaint(final String name) {
            return name.startsWith("_ws.malformed") || messageDepth > 0 && name.startsWith("_ws.expert.message");
        }

        private void addFlow() {
            final String source = record.getOrDefault("cflow.srcaddr", record.get("cflow.srcaddrv6"));
            if (source != null && record.containsKey("cflow.packets")) {
                flows.add(new Flow(source, record.getOrDefault("cflow.dstaddr", record.get("cflow.dstaddrv6")),
                    (int) number("cflow.protocol"), (int) number("cflow.srcport"), (int) number("cflow.dstport"),
                    number("cflow.packets"), number("cflow.octets"),
                    timeMs("cflow.abstimestart"), timeMs("cflow.abstimeend")));
            }
        }

        private long number(final String name) {
            return Long.parseLong(record.getOrDefault(name, "0"));
        }

        private long timeMs(final String name) {
            final String text = record.get(name).replaceAll("\\s+", " ");
            return LocalDateTime.parse(text, TIME).toInstant(ZoneOffset.UTC).toEpochMilli();
        }
    }
}

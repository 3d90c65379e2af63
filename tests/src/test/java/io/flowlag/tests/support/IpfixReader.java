package io.flowlag.tests.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Reads a stream of IPFIX Messages (RFC 7011 section 3) knowing nothing of the product's own codec. For quick checks of many
 * files; where a witness counts, the tests ask {@link Tshark}, {@link IpfixDump}, {@link PythonIpfix} and the collectors.
 */
public final class IpfixReader {
    private static final int VERSION = 10;
    private static final int HEADER_BYTES = 16;
    private static final int TEMPLATE_SET = 2;
    private static final int OPTIONS_TEMPLATE_SET = 3;
    private static final int FIRST_DATA_SET = 256;
    private static final int VARIABLE_LENGTH = 65_535;
    private static final int ENTERPRISE_BIT = 0x8000;

    private static final long OCTETS = 1;
    private static final long PACKETS = 2;
    private static final long PROTOCOL = 4;
    private static final long SOURCE_PORT = 7;
    private static final long SOURCE_IPV4 = 8;
    private static final long DESTINATION_PORT = 11;
    private static final long DESTINATION_IPV4 = 12;
    private static final long SOURCE_IPV6 = 27;
    private static final long DESTINATION_IPV6 = 28;
    private static final long FLOW_START_MS = 152;
    private static final long FLOW_END_MS = 153;

    /** Which element in how many octets; the key has the enterprise number above the element id. */
    private record Field(long key, int lengthBytes) {
    }

    private record Template(boolean options, List<Field> fields) {
        int shortestRecordBytes() {
            return fields.stream().mapToInt(field -> field.lengthBytes() == VARIABLE_LENGTH ? 1 : field.lengthBytes()).sum();
        }
    }

    private final Map<Long, Template> templates = new HashMap<>();
    private final Map<Long, Long> nextSequences = new HashMap<>();
    private final List<Flow> flows = new ArrayList<>();
    private final List<String> complaints = new ArrayList<>();
    private final List<String> records = new ArrayList<>();
    private long messageCount;
    private long flowRecordCount;
    private long optionsRecordCount;

    /**
     * Reads a file.
     *
     * @param file of IPFIX Messages one after the other.
     * @return the flows and complaints.
     */
    public static Reception read(final Path file) {
        return of(file).reception();
    }

    /**
     * Reads a file.
     *
     * @param file of IPFIX Messages one after the other.
     * @return the reader, which knows more than flows and complaints.
     */
    public static IpfixReader of(final Path file) {
        final IpfixReader reader = new IpfixReader();
        try {
            reader.readStream(ByteBuffer.wrap(Files.readAllBytes(file)));
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
        return reader;
    }

    /** {@return every flow record read so far as text: element, a colon, the octets, and so on} */
    public List<String> records() {
        return List.copyOf(records);
    }

    /** {@return what was read so far} */
    public Reception reception() {
        return new Reception(List.copyOf(flows), List.copyOf(complaints));
    }

    /** {@return messages read so far} */
    public long messageCount() {
        return messageCount;
    }

    /** {@return flow records read so far} */
    public long flowRecordCount() {
        return flowRecordCount;
    }

    /** {@return options data records read so far} */
    public long optionsRecordCount() {
        return optionsRecordCount;
    }

    /**
     * Reads messages until the octets end.
     *
     * @param octets big-endian, as a buffer is when new.
     */
    public void readStream(final ByteBuffer octets) {
        while (octets.hasRemaining()) {
            final int lengthBytes = octets.remaining() < 4 ? 0 : Short.toUnsignedInt(octets.getShort(octets.position() + 2));
            if (lengthBytes < HEADER_BYTES || lengthBytes > octets.remaining()) {
                complaints.add("message of " + lengthBytes + " octets with " + octets.remaining() + " left");
                return;
            }
            readMessage(octets.slice(octets.position(), lengthBytes));
            octets.position(octets.position() + lengthBytes);
        }
    }

    /**
     * Reads one message.
     *
     * @param message from its header to its end.
     */
    public void readMessage(final ByteBuffer message) {
        messageCount++;
        if (message.getShort(0) != VERSION || Short.toUnsignedInt(message.getShort(2)) != message.remaining()) {
            complaints.add("message " + messageCount + ": version or length wrong");
            return;
        }
        final long sequence = Integer.toUnsignedLong(message.getInt(8));
        final long domain = Integer.toUnsignedLong(message.getInt(12));
        final Long expected = nextSequences.get(domain);
        if (expected != null && expected != sequence) {
            complaints.add("message " + messageCount + ": sequence " + sequence + " instead of " + expected);
        }
        final long before = flowRecordCount + optionsRecordCount;
        message.position(HEADER_BYTES);
        while (message.hasRemaining()) {
            if (!readSet(message, domain)) {
                return;
            }
        }
        nextSequences.put(domain, sequence + flowRecordCount + optionsRecordCount - before & 0xFFFF_FFFFL);
    }

    private boolean readSet(final ByteBuffer message, final long domain) {
        final int lengthBytes = message.remaining() < 4 ? 0 : Short.toUnsignedInt(message.getShort(message.position() + 2));
        if (lengthBytes <= 4 || lengthBytes > message.remaining()) {
            complaints.add(
                "message " + messageCount + ": set of " + lengthBytes + " octets with " + message.remaining() + " left");
            return false;
        }
        final int setId = Short.toUnsignedInt(message.getShort(message.position()));
        final ByteBuffer content = message.slice(message.position() + 4, lengthBytes - 4);
        message.position(message.position() + lengthBytes);
        if (setId == TEMPLATE_SET || setId == OPTIONS_TEMPLATE_SET) {
            readTemplates(content, domain, setId == OPTIONS_TEMPLATE_SET);
        } else if (setId >= FIRST_DATA_SET) {
            readRecords(content, domain, setId);
        } else {
            complaints.add("message " + messageCount + ": set " + setId);
        }
        return true;
    }

    private void readTemplates(final ByteBuffer set, final long domain, final boolean options) {
        while (set.remaining() >= 4) {
            final long id = domain << 16 | Short.toUnsignedInt(set.getShort());
            final int fieldCount = Short.toUnsignedInt(set.getShort());
            if (options && fieldCount > 0) {
                set.getShort();
            }
            final List<Field> fields = new ArrayList<>();
            for (int i = 0; i < fieldCount; i++) {
                final int element = Short.toUnsignedInt(set.getShort());
                final int lengthBytes = Short.toUnsignedInt(set.getShort());
                final long enterprise = (element & ENTERPRISE_BIT) == 0 ? 0 : Integer.toUnsignedLong(set.getInt());
                fields.add(new Field(enterprise << 16 | element & ~ENTERPRISE_BIT, lengthBytes));
            }
            templates.put(id, new Template(options, fields));
        }
        if (set.hasRemaining()) {
            complaints.add("message " + messageCount + ": padding in a template set");
        }
    }

    private void readRecords(final ByteBuffer set, final long domain, final int setId) {
        final Template template = templates.get(domain << 16 | setId);
        if (template == null || template.fields().isEmpty()) {
            complaints.add("message " + messageCount + ": no template " + setId);
            return;
        }
        final int shortestBytes = template.shortestRecordBytes();
        while (set.remaining() >= shortestBytes) {
            final Map<Long, byte[]> values = readRecord(set, template);
            if (template.options()) {
                optionsRecordCount++;
            } else {
                flowRecordCount++;
                flows.add(flow(values));
                records.add(text(values));
            }
        }
        if (set.remaining() > 3) {
            complaints.add("message " + messageCount + ": " + set.remaining() + " octets of padding");
        }
    }

    private static Map<Long, byte[]> readRecord(final ByteBuffer set, final Template template) {
        final Map<Long, byte[]> values = new TreeMap<>();
        for (final Field field : template.fields()) {
            int lengthBytes = field.lengthBytes();
            if (lengthBytes == VARIABLE_LENGTH) {
                lengthBytes = Byte.toUnsignedInt(set.get());
                lengthBytes = lengthBytes == 255 ? Short.toUnsignedInt(set.getShort()) : lengthBytes;
            }
            final byte[] value = new byte[lengthBytes];
            set.get(value);
            values.put(field.key(), value);
        }
        return values;
    }

    private static String text(final Map<Long, byte[]> values) {
        final StringBuilder text = new StringBuilder();
        values.forEach((key, value) -> text.append(key >>> 16).append('/').append(key & 0xFFFF).append(':')
            .append(HexFormat.of().formatHex(value)).append(' '));
        return text.toString();
    }

    private static Flow flow(final Map<Long, byte[]> values) {
        final boolean ipv4 = values.containsKey(SOURCE_IPV4);
        return new Flow(
            Addresses.of(values.get(ipv4 ? SOURCE_IPV4 : SOURCE_IPV6)),
            Addresses.of(values.get(ipv4 ? DESTINATION_IPV4 : DESTINATION_IPV6)),
            (int) number(values, PROTOCOL), (int) number(values, SOURCE_PORT), (int) number(values, DESTINATION_PORT),
            number(values, PACKETS), number(values, OCTETS), number(values, FLOW_START_MS), number(values, FLOW_END_MS));
    }

    private static long number(final Map<Long, byte[]> values, final long key) {
        long number = 0;
        for (final byte octet : values.getOrDefault(key, new byte[0])) {
            number = number << 8 | octet & 0xFF;
        }
        return number;
    }
}

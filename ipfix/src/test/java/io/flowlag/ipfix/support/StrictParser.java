package io.flowlag.ipfix.support;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A second reading of RFC 7011, for tests: takes messages of one Transport Session and refuses whatever an Exporting Process must
 * not do. Shares no code with the encoder.
 */
public final class StrictParser {
    /** A field as it stands on the wire. */
    public record Field(int enterpriseNumber, int elementId, int lengthBytes) {
    }

    /** A template as it stands on the wire. */
    public record WireTemplate(int id, int scopeFieldCount, List<Field> fields) {
        int shortestRecord() {
            return fields.stream().mapToInt(f -> f.lengthBytes == 65535 ? 1 : f.lengthBytes).sum();
        }
    }

    /** A Data Record: its template, the octets of each value without length prefixes, and the whole record. */
    public record WireRecord(WireTemplate template, List<byte[]> values, byte[] octets) {
    }

    /** What one message held. */
    public record WireMessage(
        long exportTime, long sequence, int domain, List<WireTemplate> templates, List<WireRecord> records) {
    }

    public final Map<Integer, WireTemplate> templates = new HashMap<>();
    public final List<WireMessage> messages = new ArrayList<>();
    private final int maxMessageBytes;
    private long lastExportTime = -1;

    public StrictParser(final int maxMessageBytes) {
        this.maxMessageBytes = maxMessageBytes;
    }

    /** All records of all messages. */
    public List<WireRecord> records() {
        final List<WireRecord> all = new ArrayList<>();
        messages.forEach(m -> all.addAll(m.records));
        return all;
    }

    /** Parses messages one after another. */
    public StrictParser parseAll(final byte[] stream) {
        int offset = 0;
        while (offset < stream.length) {
            final int length = ByteBuffer.wrap(stream).getShort(offset + 2) & 0xFFFF;
            parse(java.util.Arrays.copyOfRange(stream, offset, offset + length));
            offset += length;
        }
        return this;
    }

    public WireMessage parse(final byte[] octets) {
        final ByteBuffer in = ByteBuffer.wrap(octets);
        check(in.remaining() >= 20, "a message holds more than its header");
        check(in.getShort() == 10, "version");
        check((in.getShort() & 0xFFFF) == octets.length, "message length");
        check(octets.length <= maxMessageBytes, "message of " + octets.length + " octets");
        final long exportTime = in.getInt() & 0xFFFF_FFFFL;
        check(exportTime >= lastExportTime, "export time goes back");
        lastExportTime = exportTime;
        final WireMessage message =
            new WireMessage(exportTime, in.getInt() & 0xFFFF_FFFFL, in.getInt(), new ArrayList<>(), new ArrayList<>());
        while (in.hasRemaining()) {
            parseSet(in, message);
        }
        messages.add(message);
        return message;
    }

    private void parseSet(final ByteBuffer in, final WireMessage message) {
        check(in.remaining() > 4, "a set has a header and content");
        final int id = in.getShort() & 0xFFFF;
        final int length = in.getShort() & 0xFFFF;
        check(length > 4 && length - 4 <= in.remaining(), "set length");
        final ByteBuffer set = in.slice(in.position(), length - 4);
        in.position(in.position() + length - 4);
        if (id == 2 || id == 3) {
            check(message.records.isEmpty(), "templates come before data");
            int count = 0;
            while (set.hasRemaining()) {
                parseTemplate(set, id == 3, message);
                count++;
            }
            check(id == 2 || count == 1, "one options template to a set");
        } else {
            check(id >= 256, "reserved set id");
            final WireTemplate template = templates.get(id);
            check(template != null, "data before its template");
            int count = 0;
            while (set.remaining() >= template.shortestRecord()) {
                message.records.add(parseRecord(set, template));
                count++;
            }
            check(count > 0, "empty set");
            check(set.remaining() <= 3, "padding too long");
            check(!set.hasRemaining() || in.hasRemaining(), "padding at the end of a message");
            while (set.hasRemaining()) {
                check(set.get() == 0, "padding is zero");
            }
        }
    }

    private void parseTemplate(final ByteBuffer set, final boolean options, final WireMessage message) {
        final int id = set.getShort() & 0xFFFF;
        final int count = set.getShort() & 0xFFFF;
        final int scope = options ? set.getShort() & 0xFFFF : 0;
        check(id >= 256 && count >= 1 && count <= 60, "template header");
        check(!options || scope >= 1 && scope <= count, "scope field count");
        final List<Field> fields = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            final int element = set.getShort() & 0xFFFF;
            final int length = set.getShort() & 0xFFFF;
            fields.add(new Field((element & 0x8000) == 0 ? 0 : set.getInt(), element & 0x7FFF, length));
        }
        final WireTemplate template = new WireTemplate(id, scope, fields);
        final WireTemplate old = templates.put(id, template);
        check(old == null || old.equals(template), "template redefined");
        message.templates.add(template);
    }

    private static WireRecord parseRecord(final ByteBuffer set, final WireTemplate template) {
        final int begin = set.position();
        final List<byte[]> values = new ArrayList<>();
        for (final Field field : template.fields) {
            int length = field.lengthBytes;
            if (length == 65535) {
                length = set.get() & 0xFF;
                length = length == 255 ? set.getShort() & 0xFFFF : length;
            }
            final byte[] value = new byte[length];
            set.get(value);
            values.add(value);
        }
        final byte[] octets = new byte[set.position() - begin];
        set.get(begin, octets);
        return new WireRecord(template, values, octets);
    }

    private static void check(final boolean holds, final String rule) {
        if (!holds) {
            throw new AssertionError(rule);
        }
    }
}

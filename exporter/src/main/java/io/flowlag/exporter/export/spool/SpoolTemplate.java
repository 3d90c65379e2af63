package io.flowlag.exporter.export.spool;

import io.flowlag.ipfix.template.FieldSpecifier;
import io.flowlag.ipfix.template.Template;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static java.nio.ByteOrder.BIG_ENDIAN;
import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * A template in a segment, and the offsets of the packet and octet counts in its records. Immutable.
 *
 * @param enterpriseNumbers of the elements; 0 for IANA's.
 * @param packetsOffset     in a record; below 0 for none.
 * @param octetsOffset      in a record; below 0 for none.
 */
record SpoolTemplate(
    int fieldCount,
    int[] elementIds,
    int[] lengthsBytes,
    int[] enterpriseNumbers,
    int recordLengthBytes,
    int packetsOffset,
    int octetsOffset) {
    private static final int PACKET_DELTA_COUNT = 2;
    private static final int OCTET_DELTA_COUNT = 1;
    private static final int MAX_FIELDS = 64;
    private static final int MAX_RECORD_BYTES = SpoolLayout.MAX_PAYLOAD_BYTES - SpoolLayout.RECORD_OFFSET;

    /** Reads the payload of a template's frame; null if it is invalid. */
    static SpoolTemplate read(final DirectBuffer buffer, final int payload, final int payloadBytes) {
        final int count = payloadBytes < SpoolLayout.FIELDS_OFFSET ? 0 : buffer.getInt(payload + Integer.BYTES, LITTLE_ENDIAN);
        if (count < 1 || count > MAX_FIELDS ||
            payloadBytes != SpoolLayout.FIELDS_OFFSET + count * SpoolLayout.FIELD_LENGTH_BYTES) {
            return null;
        }
        final int[] ids = new int[count];
        final int[] lengths = new int[count];
        final int[] enterprises = new int[count];
        int recordBytes = 0;
        int packets = -1;
        int octets = -1;
        for (int i = 0; i < count; i++) {
            final int field = payload + SpoolLayout.FIELDS_OFFSET + i * SpoolLayout.FIELD_LENGTH_BYTES;
            ids[i] = buffer.getInt(field, LITTLE_ENDIAN);
            lengths[i] = buffer.getInt(field + Integer.BYTES, LITTLE_ENDIAN);
            enterprises[i] = buffer.getInt(field + 2 * Integer.BYTES, LITTLE_ENDIAN);
            if (lengths[i] < 1 || lengths[i] > MAX_RECORD_BYTES - recordBytes) {
                return null;
            }
            final boolean isCount = enterprises[i] == 0 && lengths[i] == Long.BYTES;
            packets = isCount && ids[i] == PACKET_DELTA_COUNT ? recordBytes : packets;
            octets = isCount && ids[i] == OCTET_DELTA_COUNT ? recordBytes : octets;
            recordBytes += lengths[i];
        }
        return new SpoolTemplate(count, ids, lengths, enterprises, recordBytes, packets, octets);
    }

    /** Writes the payload of a template's frame. */
    static void put(final MutableDirectBuffer buffer, final int payload, final Template template) {
        buffer.putInt(payload, template.templateId(), LITTLE_ENDIAN);
        buffer.putInt(payload + Integer.BYTES, template.fieldCount(), LITTLE_ENDIAN);
        for (int i = 0; i < template.fieldCount(); i++) {
            final FieldSpecifier field = template.field(i);
            final int offset = payload + SpoolLayout.FIELDS_OFFSET + i * SpoolLayout.FIELD_LENGTH_BYTES;
            buffer.putInt(offset, field.element().elementId(), LITTLE_ENDIAN);
            buffer.putInt(offset + Integer.BYTES, field.lengthBytes(), LITTLE_ENDIAN);
            buffer.putInt(offset + 2 * Integer.BYTES, field.element().enterpriseNumber(), LITTLE_ENDIAN);
        }
    }

    static int payloadBytes(final Template template) {
        return SpoolLayout.FIELDS_OFFSET + template.fieldCount() * SpoolLayout.FIELD_LENGTH_BYTES;
    }

    long packets(final DirectBuffer buffer, final int record) {
        return packetsOffset < 0 ? 0 : buffer.getLong(record + packetsOffset, BIG_ENDIAN);
    }

    long octets(final DirectBuffer buffer, final int record) {
        return octetsOffset < 0 ? 0 : buffer.getLong(record + octetsOffset, BIG_ENDIAN);
    }
}

package io.flowlag.ipfix.collect;

import io.flowlag.common.time.Nanoseconds;
import io.flowlag.ipfix.element.DataType;
import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.message.MessageHeader;
import io.flowlag.ipfix.template.FieldSpecifier;
import io.flowlag.ipfix.template.Template;
import org.agrona.DirectBuffer;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * One data record in place (RFC 7011 section 3.4.3): a flyweight that the {@link CollectingProcess} moves from record to record.
 * Fields are addressed by their index in the template, 0 to {@link #fieldCount()} - 1. Every field was verified to lie inside the
 * message. Valid only during {@link RecordHandler#onRecord}, on its thread. Getters do not allocate, except {@link #string}.
 */
public final class CollectedRecord {
    private static final int MILLIS_PER_SECOND = 1_000;
    private static final int NANOS_PER_MICRO = 1_000;
    private static final int NANOS_PER_MILLI = 1_000_000;
    /** Seconds from the beginning of NTP's era 0 to the UNIX epoch (RFC 5905 section 6). */
    private static final long NTP_TO_UNIX_SECONDS = 2_208_988_800L;
    /** The fraction bits that a microsecond timestamp does not use (RFC 7011 section 6.1.9). */
    private static final long UNUSED_MICROSECOND_BITS = 0x7FFL;
    private static final int BOOLEAN_TRUE = 1;

    private int[] offsets = new int[64];
    private int[] lengthsBytes = new int[64];
    private TransportSession session;
    private CollectedTemplate collectedTemplate;
    private Template template;
    private DirectBuffer buffer;
    private int domainId;
    private int exportTimeSeconds;
    private int sequenceNumber;

    CollectedRecord() {
    }

    void wrapMessage(final TransportSession session, final DirectBuffer buffer, final int offset) {
        this.session = session;
        this.buffer = buffer;
        domainId = MessageHeader.observationDomainId(buffer, offset);
        exportTimeSeconds = (int)MessageHeader.exportTimeSeconds(buffer, offset);
        sequenceNumber = (int)MessageHeader.sequenceNumber(buffer, offset);
    }

    void wrapTemplate(final CollectedTemplate collectedTemplate) {
        this.collectedTemplate = collectedTemplate;
        template = collectedTemplate.template();
        if (template.fieldCount() > offsets.length) {
            offsets = Arrays.copyOf(offsets, template.fieldCount());
            lengthsBytes = Arrays.copyOf(lengthsBytes, template.fieldCount());
        }
    }

    /** Finds the fields of a verified record; returns where the record ends. */
    int wrapRecord(final int offset) {
        int position = offset;
        final int fieldCount = template.fieldCount();
        for (int i = 0; i < fieldCount; i++) {
            final FieldSpecifier field = template.field(i);
            int lengthBytes = field.lengthBytes();
            if (field.isVariableLength()) {
                lengthBytes = MessageLayout.variableLengthBytes(buffer, position);
                position += MessageLayout.lengthPrefixBytes(buffer, position);
            }
            offsets[i] = position;
            lengthsBytes[i] = lengthBytes;
            position += lengthBytes;
        }
        return position;
    }

    /** {@return the session that the record came from} */
    public TransportSession session() {
        return session;
    }

    /** {@return the Observation Domain ID, an unsigned 32-bit number} */
    public int observationDomainId() {
        return domainId;
    }

    /** {@return the message's Export Time: unsigned 32-bit seconds since the UNIX epoch} */
    public int exportTimeSeconds() {
        return exportTimeSeconds;
    }

    /** {@return the message's sequence number, an unsigned 32-bit number} */
    public int sequenceNumber() {
        return sequenceNumber;
    }

    /**
     * The template as received. Elements unknown at that time are octet arrays named {@code pen:id}; see {@link #element}.
     * Returns the same instance until the exporter sends another template.
     */
    public Template template() {
        return template;
    }

    /** {@return whether the record is of an options template} */
    public boolean isOptions() {
        return template.isOptions();
    }

    /** {@return how many fields there are, scope included} */
    public int fieldCount() {
        return template.fieldCount();
    }

    /** Returns the element of a field as this session knows it now, or null if it is unknown. */
    public InformationElement element(final int index) {
        return collectedTemplate.element(index);
    }

    /** The enterprise number of a field. Returns 0 for IANA's elements; an unsigned 32-bit number. */
    public int enterpriseNumber(final int index) {
        return template.field(index).element().enterpriseNumber();
    }

    /** The element id of a field. Returns the id, without the enterprise bit. */
    public int elementId(final int index) {
        return template.field(index).element().elementId();
    }

    /** {@return the buffer of the record's octets} */
    public DirectBuffer buffer() {
        return buffer;
    }

    /** Where a value begins. Returns offset in {@link #buffer()}, behind the length octets of a value of variable length. */
    public int fieldOffset(final int index) {
        return offsets[index];
    }

    /** How long a value is. Returns octets. */
    public int fieldLengthBytes(final int index) {
        return lengthsBytes[index];
    }

    /**
     * Whether the typed getters apply: the element is known and its type allows a value of this length. Otherwise only the octets
     * are meaningful.
     */
    public boolean isTyped(final int index) {
        final InformationElement element = element(index);
        return element != null && element.type().allowsLength(lengthsBytes[index]);
    }

    /**
     * The first field of an element. Callers that need it for each record should cache it per template.
     *
     * @param elementName as in the registry, or as learned.
     * @return index of the field, or -1.
     */
    public int indexOf(final String elementName) {
        for (int i = 0; i < template.fieldCount(); i++) {
            final InformationElement element = element(i);
            if (element != null && element.name().equals(elementName)) {
                return i;
            }
        }
        return -1;
    }

    /**
     * An unsigned integer, in full or reduced length (RFC 7011 section 6.2). Returns the value of the last eight octets at most;
     * unsigned.
     */
    public long unsigned(final int index) {
        final int limit = offsets[index] + lengthsBytes[index];
        long value = 0;
        for (int i = Math.max(offsets[index], limit - Long.BYTES); i < limit; i++) {
            value = value << Byte.SIZE | buffer.getByte(i) & 0xFF;
        }
        return value;
    }

    /** A signed integer, in full or reduced length. Returns the value, its sign extended. */
    public long signed(final int index) {
        final int unusedBits = Long.SIZE - Byte.SIZE * Math.min(lengthsBytes[index], Long.BYTES);
        return unusedBits == Long.SIZE ? 0 : unsigned(index) << unusedBits >> unusedBits;
    }

    /**
     * A float32, a float64, or a float64 reduced to four octets. Returns the value; NaN where the field is neither four nor eight
     * octets long.
     */
    public double floating(final int index) {
        return switch (lengthsBytes[index]) {
            case Float.BYTES -> Float.intBitsToFloat((int)unsigned(index));
            case Double.BYTES -> Double.longBitsToDouble(unsigned(index));
            default -> Double.NaN;
        };
    }

    /** A truth value (RFC 7011 section 6.1.5). Returns true for 1. */
    public boolean bool(final int index) {
        return unsigned(index) == BOOLEAN_TRUE;
    }

    /** A MAC address. Returns its six octets in the low bits. */
    public long macAddress(final int index) {
        return unsigned(index);
    }

    /** An IPv4 address. Returns its four octets. */
    public int ipv4Address(final int index) {
        return (int)unsigned(index);
    }

    /**
     * The first half of an IPv6 address.
     *
     * @param index of a field of 16 octets.
     * @return its first eight octets.
     */
    public long ipv6High(final int index) {
        return buffer.getLong(offsets[index], ByteOrder.BIG_ENDIAN);
    }

    /**
     * The second half of an IPv6 address.
     *
     * @param index of a field of 16 octets.
     * @return its last eight octets.
     */
    public long ipv6Low(final int index) {
        return buffer.getLong(offsets[index] + Long.BYTES, ByteOrder.BIG_ENDIAN);
    }

    /**
     * A time of any of the four types (RFC 7011 sections 6.1.7 to 6.1.10). NTP timestamps do not state their era; the one nearest
     * to the message's Export Time is used. Microseconds are rounded to microseconds, nanoseconds to nanoseconds. Returns ns
     * since the UNIX epoch, at most {@link Long#MAX_VALUE}; 0 if the element is not a time.
     */
    public long timestampNs(final int index) {
        final InformationElement element = element(index);
        final DataType type = element == null ? DataType.OCTET_ARRAY : element.type();
        return switch (type) {
            case DATE_TIME_SECONDS -> unsigned(index) * Nanoseconds.PER_SECOND;
            case DATE_TIME_MILLISECONDS -> millisToNs(unsigned(index));
            case DATE_TIME_MICROSECONDS -> ntpMicros(unsigned(index)) * NANOS_PER_MICRO;
            case DATE_TIME_NANOSECONDS -> ntpNs(unsigned(index));
            default -> 0;
        };
    }

    /** A string. Invalid UTF-8 becomes the replacement character; trailing NULs of a fixed length are cut. Allocates. */
    public String string(final int index) {
        int lengthBytes = lengthsBytes[index];
        while (lengthBytes > 0 && buffer.getByte(offsets[index] + lengthBytes - 1) == 0) {
            lengthBytes--;
        }
        final byte[] octets = new byte[lengthBytes];
        buffer.getBytes(offsets[index], octets);
        return new String(octets, StandardCharsets.UTF_8);
    }

    private static long millisToNs(final long millis) {
        return millis < 0 || millis > Long.MAX_VALUE / NANOS_PER_MILLI ? Long.MAX_VALUE : millis * NANOS_PER_MILLI;
    }

    private long ntpNs(final long ntp) {
        final long fraction = ntp & 0xFFFF_FFFFL;
        return unixSeconds(ntp) * Nanoseconds.PER_SECOND + scaleFraction(fraction, Nanoseconds.PER_SECOND);
    }

    private long ntpMicros(final long ntp) {
        final long fraction = ntp & 0xFFFF_FFFFL & ~UNUSED_MICROSECOND_BITS;
        final long microsPerSecond = (long)MILLIS_PER_SECOND * MILLIS_PER_SECOND;
        return unixSeconds(ntp) * microsPerSecond + scaleFraction(fraction, microsPerSecond);
    }

    private static long scaleFraction(final long fraction, final long unitsPerSecond) {
        return fraction * unitsPerSecond + (1L << Integer.SIZE - 1) >>> Integer.SIZE;
    }

    /** The second whose distance from the Export Time is less than half an era of 2^32 s. */
    private long unixSeconds(final long ntp) {
        final int unixModuloEra = (int)((ntp >>> Integer.SIZE) - NTP_TO_UNIX_SECONDS);
        return Integer.toUnsignedLong(exportTimeSeconds) + (unixModuloEra - exportTimeSeconds);
    }
}

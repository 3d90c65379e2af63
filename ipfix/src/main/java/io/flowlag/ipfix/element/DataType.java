package io.flowlag.ipfix.element;

/**
 * Abstract data types of RFC 7012 section 3.1, with the numbers of RFC 5610 section 3.1 (extended by RFC 6313 and RFC 9740)
 * and the length in octets that an encoder uses unless a template says otherwise.
 */
public enum DataType {
    /** Any octets; variable length by default. */
    OCTET_ARRAY("octetArray", 0, DataType.VARIABLE_LENGTH),
    UNSIGNED8("unsigned8", 1, 1),
    UNSIGNED16("unsigned16", 2, 2),
    UNSIGNED32("unsigned32", 3, 4),
    UNSIGNED64("unsigned64", 4, 8),
    SIGNED8("signed8", 5, 1),
    SIGNED16("signed16", 6, 2),
    SIGNED32("signed32", 7, 4),
    SIGNED64("signed64", 8, 8),
    FLOAT32("float32", 9, 4),
    /** IEEE 754 double precision; may be reduced to four octets. */
    FLOAT64("float64", 10, 8),
    /** 1 is true, 2 is false (RFC 7011 section 6.1.5). */
    BOOLEAN("boolean", 11, 1),
    MAC_ADDRESS("macAddress", 12, 6),
    /** UTF-8 text; variable length by default. */
    STRING("string", 13, DataType.VARIABLE_LENGTH),
    /** Seconds since the UNIX epoch, unsigned 32-bit. */
    DATE_TIME_SECONDS("dateTimeSeconds", 14, 4),
    /** Milliseconds since the UNIX epoch, unsigned 64-bit. */
    DATE_TIME_MILLISECONDS("dateTimeMilliseconds", 15, 8),
    /** NTP timestamp format, as the next one; the low 11 bits of the fraction should be 0. */
    DATE_TIME_MICROSECONDS("dateTimeMicroseconds", 16, 8),
    DATE_TIME_NANOSECONDS("dateTimeNanoseconds", 17, 8),
    IPV4_ADDRESS("ipv4Address", 18, 4),
    IPV6_ADDRESS("ipv6Address", 19, 16),
    /** Structured data, RFC 6313, as are the next two. */
    BASIC_LIST("basicList", 20, DataType.VARIABLE_LENGTH),
    SUB_TEMPLATE_LIST("subTemplateList", 21, DataType.VARIABLE_LENGTH),
    SUB_TEMPLATE_MULTI_LIST("subTemplateMultiList", 22, DataType.VARIABLE_LENGTH),
    /** Unsigned integer of 32 octets (RFC 9740); may be reduced. */
    UNSIGNED256("unsigned256", 23, 32);

    /** The length that means "variable" in a Field Specifier (RFC 7011 section 3.2). */
    public static final int VARIABLE_LENGTH = 65535;

    private static final DataType[] BY_NUMBER = values();

    private final String registryName;
    private final int number;
    private final int lengthBytes;

    DataType(final String registryName, final int number, final int lengthBytes) {
        this.registryName = registryName;
        this.number = number;
        this.lengthBytes = lengthBytes;
    }

    /** {@return the name that the IANA registry uses} */
    public String registryName() {
        return registryName;
    }

    /** {@return the number of RFC 5610 section 3.1, as in informationElementDataType (339)} */
    public int number() {
        return number;
    }

    /** {@return the full length in octets, or {@link #VARIABLE_LENGTH}} */
    public int lengthBytes() {
        return lengthBytes;
    }

    /** {@return whether the type is an unsigned integer of at most eight octets} */
    public boolean isUnsigned() {
        return this == UNSIGNED8 || this == UNSIGNED16 || this == UNSIGNED32 || this == UNSIGNED64;
    }

    /** {@return whether the type is a signed integer} */
    public boolean isSigned() {
        return this == SIGNED8 || this == SIGNED16 || this == SIGNED32 || this == SIGNED64;
    }

    /**
     * Whether a field of this type may have the given length (RFC 7011 sections 6.2 and 7; reduced size only for integers
     * and for float64 to four octets).
     *
     * @param fieldLengthBytes as in a Field Specifier; {@link #VARIABLE_LENGTH} for variable.
     * @return true if an encoder or decoder may accept it.
     */
    public boolean allowsLength(final int fieldLengthBytes) {
        return switch (this) {
            case OCTET_ARRAY, STRING, BASIC_LIST, SUB_TEMPLATE_LIST, SUB_TEMPLATE_MULTI_LIST -> fieldLengthBytes >= 0;
            case FLOAT64 -> fieldLengthBytes == 8 || fieldLengthBytes == 4;
            case UNSIGNED256 -> fieldLengthBytes >= 1 && fieldLengthBytes <= 32;
            default -> isUnsigned() || isSigned() ?
                fieldLengthBytes >= 1 && fieldLengthBytes <= lengthBytes : fieldLengthBytes == lengthBytes;
        };
    }

    /**
     * The type for a registry name.
     *
     * @param registryName such as {@code unsigned64}.
     * @throws IllegalArgumentException if there is none.
     */
    public static DataType ofRegistryName(final String registryName) {
        for (final DataType type : BY_NUMBER) {
            if (type.registryName.equals(registryName)) {
                return type;
            }
        }
        throw new IllegalArgumentException("no abstract data type is named " + registryName);
    }

    /**
     * The type for a number of RFC 5610.
     *
     * @param number 0 to 23.
     * @return the type, or {@link #OCTET_ARRAY} for an unassigned number.
     */
    public static DataType ofNumber(final int number) {
        return number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : OCTET_ARRAY;
    }
}

package io.flowlag.ipfix.element;

/** Units of RFC 5610 section 3.7 and its registry. */
public enum Units {
    /** No unit. */
    NONE("", 0),
    /** Bits. */
    BITS("bits", 1),
    /** Octets. */
    OCTETS("octets", 2),
    /** Packets. */
    PACKETS("packets", 3),
    /** Flows. */
    FLOWS("flows", 4),
    /** Seconds. */
    SECONDS("seconds", 5),
    /** Milliseconds. */
    MILLISECONDS("milliseconds", 6),
    /** Microseconds. */
    MICROSECONDS("microseconds", 7),
    /** Nanoseconds. */
    NANOSECONDS("nanoseconds", 8),
    /** Words of four octets, as in an IPv4 header length. */
    FOUR_OCTET_WORDS("4-octet words", 9),
    /** Messages. */
    MESSAGES("messages", 10),
    /** Hops. */
    HOPS("hops", 11),
    /** Table entries. */
    ENTRIES("entries", 12),
    /** Frames. */
    FRAMES("frames", 13),
    /** Ports. */
    PORTS("ports", 14),
    /** The units of what the element refers to. */
    INFERRED("inferred", 15);

    private static final Units[] BY_NUMBER = values();

    private final String registryName;
    private final int number;

    Units(final String registryName, final int number) {
        this.registryName = registryName;
        this.number = number;
    }

    /** {@return the name that the IANA registry uses, empty for none} */
    public String registryName() {
        return registryName;
    }

    /** {@return the number, as in informationElementUnits (345)} */
    public int number() {
        return number;
    }

    /**
     * The units for a registry name.
     *
     * @param registryName such as {@code packets}; an empty one is {@link #NONE}.
     * @return the units.
     * @throws IllegalArgumentException if there are none.
     */
    public static Units ofRegistryName(final String registryName) {
        for (final Units units : BY_NUMBER) {
            if (units.registryName.equals(registryName)) {
                return units;
            }
        }
        throw new IllegalArgumentException("no units are named " + registryName);
    }

    /**
     * The units for a number of the registry.
     *
     * @param number 0 to 15.
     * @return the units, or {@link #NONE} for an unassigned number.
     */
    public static Units ofNumber(final int number) {
        return number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : NONE;
    }
}

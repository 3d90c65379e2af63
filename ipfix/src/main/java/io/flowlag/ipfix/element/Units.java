package io.flowlag.ipfix.element;

/** Units of RFC 5610 section 3.7 and its registry. */
public enum Units {
    /** No unit. */
    NONE("", 0),
    BITS("bits", 1),
    OCTETS("octets", 2),
    PACKETS("packets", 3),
    FLOWS("flows", 4),
    SECONDS("seconds", 5),
    MILLISECONDS("milliseconds", 6),
    MICROSECONDS("microseconds", 7),
    NANOSECONDS("nanoseconds", 8),
    /** Words of four octets, as in an IPv4 header length. */
    FOUR_OCTET_WORDS("4-octet words", 9),
    MESSAGES("messages", 10),
    HOPS("hops", 11),
    ENTRIES("entries", 12),
    FRAMES("frames", 13),
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

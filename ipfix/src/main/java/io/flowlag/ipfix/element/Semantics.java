package io.flowlag.ipfix.element;

/** Data type semantics of RFC 7012 section 3.2 and RFC 6313, with the numbers of RFC 5610 section 3.6. */
public enum Semantics {
    /** No semantics apply. */
    DEFAULT("default", 0),
    /** A value that can be added, subtracted or compared. */
    QUANTITY("quantity", 1),
    /** A counter that is never reset. */
    TOTAL_COUNTER("totalCounter", 2),
    /** A counter that starts anew with each exported record. */
    DELTA_COUNTER("deltaCounter", 3),
    /** A value that names something. */
    IDENTIFIER("identifier", 4),
    /** A set of bits. */
    FLAGS("flags", 5),
    /** A structured list. */
    LIST("list", 6),
    SNMP_COUNTER("snmpCounter", 7),
    SNMP_GAUGE("snmpGauge", 8);

    private static final Semantics[] BY_NUMBER = values();

    private final String registryName;
    private final int number;

    Semantics(final String registryName, final int number) {
        this.registryName = registryName;
        this.number = number;
    }

    /** {@return the name that the IANA registry uses} */
    public String registryName() {
        return registryName;
    }

    /** {@return the number of RFC 5610 section 3.6, as in informationElementSemantics (344)} */
    public int number() {
        return number;
    }

    /**
     * The semantics for a registry name.
     *
     * @param registryName such as {@code deltaCounter}; an empty one is {@link #DEFAULT}.
     * @throws IllegalArgumentException if there is none.
     */
    public static Semantics ofRegistryName(final String registryName) {
        if (registryName.isEmpty()) {
            return DEFAULT;
        }
        for (final Semantics semantics : BY_NUMBER) {
            if (semantics.registryName.equals(registryName)) {
                return semantics;
            }
        }
        throw new IllegalArgumentException("no semantics is named " + registryName);
    }

    /**
     * The semantics for a number of RFC 5610.
     *
     * @param number 0 to 8.
     * @return the semantics, or {@link #DEFAULT} for an unassigned number.
     */
    public static Semantics ofNumber(final int number) {
        return number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : DEFAULT;
    }
}

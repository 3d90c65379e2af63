package io.flowlag.ipfix.element;

import java.util.Objects;

/**
 * One Information Element (RFC 7012 section 2.1). Immutable, safe to share between threads.
 *
 * @param enterpriseNumber 0 for an element of IANA's registry, else the private enterprise number.
 * @param elementId        1 to 32767, without the enterprise bit.
 * @param name             lower camel case, unique in its registry.
 * @param description      one sentence; may be empty for IANA's elements, whose text is in the registry.
 */
public record InformationElement(
    int enterpriseNumber,
    int elementId,
    String name,
    DataType type,
    Semantics semantics,
    Units units,
    String description) {

    /** The largest element id: the high bit of the field on the wire says "enterprise". */
    public static final int MAX_ELEMENT_ID = 0x7FFF;
    /** The enterprise number of the reverse of IANA's elements (RFC 5103 section 6.1). */
    public static final int REVERSE_ENTERPRISE_NUMBER = 29305;
    /** What tells an enterprise's own reverse elements, whose ids section 6.2 leaves to it. */
    public static final int REVERSE_BIT = 0x4000;

    /** Checks ranges and that nothing is null. */
    public InformationElement {
        if (elementId < 1 || elementId > MAX_ELEMENT_ID) {
            throw new IllegalArgumentException("elementId=" + elementId + " is outside 1 to " + MAX_ELEMENT_ID);
        }
        if (name.isEmpty() || name.indexOf('\0') >= 0 || description.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("element " + elementId + " has an empty name or a NUL in its text");
        }
        Objects.requireNonNull(type);
        Objects.requireNonNull(semantics);
        Objects.requireNonNull(units);
    }

    /** Written out, because the generated method of a record costs more start-up time at its first use. */
    @Override
    public boolean equals(final Object other) {
        return this == other || other instanceof InformationElement that && enterpriseNumber == that.enterpriseNumber &&
            elementId == that.elementId && type == that.type && semantics == that.semantics && units == that.units &&
            name.equals(that.name) && description.equals(that.description);
    }

    @Override
    public int hashCode() {
        return 31 * enterpriseNumber + elementId;
    }

    /** {@return the same of a biflow's reverse direction, named {@code reverse...} (RFC 5103)} */
    public InformationElement reversed() {
        return new InformationElement(
            isEnterprise() ? enterpriseNumber : REVERSE_ENTERPRISE_NUMBER, isEnterprise() ? elementId | REVERSE_BIT : elementId,
            "reverse" + Character.toUpperCase(name.charAt(0)) + name.substring(1), type, semantics, units, description);
    }

    /** {@return whether the element belongs to a private enterprise} */
    public boolean isEnterprise() {
        return enterpriseNumber != 0;
    }

    /**
     * The key under which a registry keeps the element.
     *
     * @param enterpriseNumber 0 for IANA.
     * @param elementId        without the enterprise bit.
     * @return both numbers in one long.
     */
    public static long key(final int enterpriseNumber, final int elementId) {
        return ((long)enterpriseNumber << 16) | elementId;
    }
}

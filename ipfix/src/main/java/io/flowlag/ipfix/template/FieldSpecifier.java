package io.flowlag.ipfix.template;

import io.flowlag.ipfix.element.DataType;
import io.flowlag.ipfix.element.InformationElement;

import java.util.Objects;

/**
 * One field of a template (RFC 7011 section 3.2): an Information Element and the length its values have in a record.
 * Immutable, safe to share between threads.
 *
 * @param lengthBytes octets of each value, or {@link DataType#VARIABLE_LENGTH}.
 */
public record FieldSpecifier(InformationElement element, int lengthBytes) {
    /**
     * Checks that the length fits the 16 bits of a Field Specifier. It does not check {@link #isLengthAllowed()}, because a
     * decoder must accept other lengths.
     */
    public FieldSpecifier {
        Objects.requireNonNull(element);
        if (lengthBytes < 0 || lengthBytes > DataType.VARIABLE_LENGTH) {
            throw new IllegalArgumentException(
                "lengthBytes=" + lengthBytes + " of " + element.name() + " is outside 0 to " + DataType.VARIABLE_LENGTH);
        }
    }

    /** A field with the full length of its element's type. */
    public static FieldSpecifier of(final InformationElement element) {
        return new FieldSpecifier(element, element.type().lengthBytes());
    }

    /** Written out for a faster start, as the element's. */
    @Override
    public boolean equals(final Object other) {
        return this == other || other instanceof FieldSpecifier that && lengthBytes == that.lengthBytes &&
            element.equals(that.element);
    }

    @Override
    public int hashCode() {
        return 31 * element.hashCode() + lengthBytes;
    }

    /** {@return whether each value carries its own length (RFC 7011 section 7)} */
    public boolean isVariableLength() {
        return lengthBytes == DataType.VARIABLE_LENGTH;
    }

    /** {@return whether the element's type may have this length (RFC 7011 sections 6.2 and 7)} */
    public boolean isLengthAllowed() {
        return element.type().allowsLength(lengthBytes);
    }

    /** {@return the least octets that a value takes in a record: the length, or one octet for an empty variable value} */
    public int minLengthBytes() {
        return isVariableLength() ? 1 : lengthBytes;
    }
}

package io.flowlag.ipfix.template;

import java.util.List;

/**
 * A Template or Options Template (RFC 7011 sections 3.4.1 and 3.4.2.2): an id and an ordered list of fields, the first
 * {@link #scopeFieldCount()} of them the scope. Immutable, safe to share between threads. Allocates at construction.
 */
public final class Template {
    /** The least id of a template; lower Set IDs are reserved (RFC 7011 section 3.3.2). */
    public static final int MIN_TEMPLATE_ID = 256;
    public static final int MAX_TEMPLATE_ID = 65535;
    /** Returned where a length or an offset is not the same in all records. */
    public static final int VARIABLE = -1;

    private final int templateId;
    private final int scopeFieldCount;
    private final List<FieldSpecifier> fields;
    private final int[] fieldOffsets;
    private final int minLengthBytes;
    private final boolean variableLength;

    /**
     * A template with the given fields.
     *
     * @param templateId      {@link #MIN_TEMPLATE_ID} to {@link #MAX_TEMPLATE_ID}.
     * @param scopeFieldCount 0 for a template of Data Records, else how many of the first fields are the scope.
     * @param fields          one or more; copied.
     * @throws IllegalArgumentException if the id is reserved, there is no field, or the scope has more fields than there are.
     */
    public Template(final int templateId, final int scopeFieldCount, final List<FieldSpecifier> fields) {
        if (templateId < MIN_TEMPLATE_ID || templateId > MAX_TEMPLATE_ID) {
            throw new IllegalArgumentException(
                "templateId=" + templateId + " is outside " + MIN_TEMPLATE_ID + " to " + MAX_TEMPLATE_ID);
        }
        if (fields.isEmpty() || scopeFieldCount < 0 || scopeFieldCount > fields.size()) {
            throw new IllegalArgumentException("template " + templateId + " has fieldCount=" + fields.size() +
                " and scopeFieldCount=" + scopeFieldCount);
        }
        this.templateId = templateId;
        this.scopeFieldCount = scopeFieldCount;
        this.fields = List.copyOf(fields);
        this.fieldOffsets = new int[fields.size()];
        this.variableLength = fields.stream().anyMatch(FieldSpecifier::isVariableLength);
        this.minLengthBytes = fields.stream().mapToInt(FieldSpecifier::minLengthBytes).sum();
        chainOffsets();
    }

    private void chainOffsets() {
        int offset = 0;
        for (int i = 0; i < fieldOffsets.length; i++) {
            fieldOffsets[i] = offset;
            final FieldSpecifier field = fields.get(i);
            offset = offset == VARIABLE || field.isVariableLength() ? VARIABLE : offset + field.lengthBytes();
        }
    }

    /** {@return the id, which is the Set ID of its records} */
    public int templateId() {
        return templateId;
    }

    /** {@return how many of the first fields are the scope; 0 for a template of Data Records} */
    public int scopeFieldCount() {
        return scopeFieldCount;
    }

    public boolean isOptions() {
        return scopeFieldCount > 0;
    }

    /** {@return the fields in order, scope first; unmodifiable} */
    public List<FieldSpecifier> fields() {
        return fields;
    }

    /** {@return how many fields there are, scope included} */
    public int fieldCount() {
        return fieldOffsets.length;
    }

    /** One field, by its index from 0 to {@link #fieldCount()} - 1; does not allocate. */
    public FieldSpecifier field(final int index) {
        return fields.get(index);
    }

    /** {@return whether records differ in length} */
    public boolean isVariableLength() {
        return variableLength;
    }

    /** {@return the length in octets of every record, or {@link #VARIABLE}} */
    public int recordLengthBytes() {
        return variableLength ? VARIABLE : minLengthBytes;
    }

    /** {@return the length in octets of the shortest record; padding must be shorter (RFC 7011 section 3.3.1)} */
    public int minLengthBytes() {
        return minLengthBytes;
    }

    /**
     * Where a field begins in every record.
     *
     * @param index 0 to {@link #fieldCount()} - 1.
     * @return octets from the beginning of the record, or {@link #VARIABLE} behind a field of variable length.
     */
    public int fieldOffset(final int index) {
        return fieldOffsets[index];
    }

    /** The first field of an element. Returns its index, or -1. */
    public int indexOf(final String elementName) {
        for (int i = 0; i < fieldOffsets.length; i++) {
            if (fields.get(i).element().name().equals(elementName)) {
                return i;
            }
        }
        return -1;
    }

    /**
     * Whether another template describes records in the same way, whatever its id. Returns whether scope and fields are equal.
     */
    public boolean hasSameContent(final Template other) {
        return scopeFieldCount == other.scopeFieldCount && fields.equals(other.fields);
    }

    @Override
    public boolean equals(final Object other) {
        return other instanceof Template && templateId == ((Template)other).templateId && hasSameContent((Template)other);
    }

    @Override
    public int hashCode() {
        return 31 * (31 * templateId + scopeFieldCount) + fields.hashCode();
    }

    @Override
    public String toString() {
        final StringBuilder text = new StringBuilder(isOptions() ? "options template " : "template ").append(templateId);
        for (int i = 0; i < fieldOffsets.length; i++) {
            final FieldSpecifier field = fields.get(i);
            text.append(i == 0 ? " (" : i == scopeFieldCount ? " | " : ", ").append(field.element().name());
            text.append('[').append(field.isVariableLength() ? "variable" : Integer.toString(field.lengthBytes())).append(']');
        }
        return text.append(')').toString();
    }
}

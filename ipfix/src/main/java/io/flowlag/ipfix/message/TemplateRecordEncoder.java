package io.flowlag.ipfix.message;

import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.template.FieldSpecifier;
import io.flowlag.ipfix.template.Template;
import org.agrona.MutableDirectBuffer;

import static java.nio.ByteOrder.BIG_ENDIAN;

/**
 * Template Records and Options Template Records (RFC 7011 sections 3.4.1, 3.4.2.2) with their Field Specifiers (section 3.2).
 * <pre>
 *   Template Record header            Options Template Record header
 *  +---------------+---------------+ +---------------+---------------+
 *  |  Template ID  |  Field Count  | |  Template ID  |  Field Count  |
 *  +---------------+---------------+ +---------------+---------------+
 *                                    | Scope Fields  |
 *                                    +---------------+
 *   Field Specifier
 *  +-+-------------+---------------+
 *  |E| Element id  | Field Length  |
 *  +-+-------------+---------------+
 *  |  Enterprise Number, if E = 1  |
 *  +-------------------------------+
 * </pre>
 * All fields are of 16 bits, the Enterprise Number is of 32. Static; any thread that owns the buffer may call it. Allocates
 * nothing.
 */
public final class TemplateRecordEncoder {
    private static final int TEMPLATE_ID_OFFSET = 0;
    private static final int FIELD_COUNT_OFFSET = TEMPLATE_ID_OFFSET + Short.BYTES;
    private static final int HEADER_LENGTH_BYTES = FIELD_COUNT_OFFSET + Short.BYTES;
    private static final int SCOPE_FIELD_COUNT_OFFSET = HEADER_LENGTH_BYTES;
    private static final int OPTIONS_HEADER_LENGTH_BYTES = SCOPE_FIELD_COUNT_OFFSET + Short.BYTES;

    private static final int ELEMENT_ID_OFFSET = 0;
    private static final int FIELD_LENGTH_OFFSET = ELEMENT_ID_OFFSET + Short.BYTES;
    private static final int ENTERPRISE_NUMBER_OFFSET = FIELD_LENGTH_OFFSET + Short.BYTES;
    private static final int SPECIFIER_LENGTH_BYTES = ENTERPRISE_NUMBER_OFFSET;
    private static final int ENTERPRISE_SPECIFIER_LENGTH_BYTES = ENTERPRISE_NUMBER_OFFSET + Integer.BYTES;
    private static final int ENTERPRISE_BIT = InformationElement.MAX_ELEMENT_ID + 1;

    private TemplateRecordEncoder() {
    }

    /** The octets that {@link #put} will write. */
    public static int lengthBytes(final Template template) {
        int lengthBytes = headerLengthBytes(template);
        for (int i = 0; i < template.fieldCount(); i++) {
            lengthBytes += specifierLengthBytes(template.field(i));
        }
        return lengthBytes;
    }

    /** Writes a template's record, of the kind that the template states. Returns octets written. */
    public static int put(final MutableDirectBuffer buffer, final int offset, final Template template) {
        buffer.putShort(offset + TEMPLATE_ID_OFFSET, (short)template.templateId(), BIG_ENDIAN);
        buffer.putShort(offset + FIELD_COUNT_OFFSET, (short)template.fieldCount(), BIG_ENDIAN);
        if (template.isOptions()) {
            buffer.putShort(offset + SCOPE_FIELD_COUNT_OFFSET, (short)template.scopeFieldCount(), BIG_ENDIAN);
        }
        int position = offset + headerLengthBytes(template);
        for (int i = 0; i < template.fieldCount(); i++) {
            position += putSpecifier(buffer, position, template.field(i));
        }
        return position - offset;
    }

    private static int headerLengthBytes(final Template template) {
        return template.isOptions() ? OPTIONS_HEADER_LENGTH_BYTES : HEADER_LENGTH_BYTES;
    }

    private static int specifierLengthBytes(final FieldSpecifier field) {
        return field.element().isEnterprise() ? ENTERPRISE_SPECIFIER_LENGTH_BYTES : SPECIFIER_LENGTH_BYTES;
    }

    private static int putSpecifier(final MutableDirectBuffer buffer, final int offset, final FieldSpecifier field) {
        final InformationElement element = field.element();
        final int enterpriseBit = element.isEnterprise() ? ENTERPRISE_BIT : 0;
        buffer.putShort(offset + ELEMENT_ID_OFFSET, (short)(element.elementId() | enterpriseBit), BIG_ENDIAN);
        buffer.putShort(offset + FIELD_LENGTH_OFFSET, (short)field.lengthBytes(), BIG_ENDIAN);
        if (element.isEnterprise()) {
            buffer.putInt(offset + ENTERPRISE_NUMBER_OFFSET, element.enterpriseNumber(), BIG_ENDIAN);
        }
        return specifierLengthBytes(field);
    }
}

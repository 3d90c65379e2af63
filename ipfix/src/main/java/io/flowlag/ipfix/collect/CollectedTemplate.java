package io.flowlag.ipfix.collect;

import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.template.FieldSpecifier;
import io.flowlag.ipfix.template.Template;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A session's entry for a template: the template, its octets as received (so that a refresh needs only a comparison), the
 * session's meaning of its elements, the time of its refresh, and its place in the order of use. Not thread-safe; allocates at
 * construction.
 */
final class CollectedTemplate extends UseOrder.Entry<CollectedTemplate> {
    private final Template template;
    private final UnsafeBuffer definition;
    private final InformationElement[] elements;
    private final TypeRecordLayout typeRecordLayout;
    private long refreshedNs;
    ObservationDomain domain;

    CollectedTemplate(final Template template, final byte[] definition, final ElementView view) {
        this.template = template;
        this.definition = new UnsafeBuffer(definition);
        this.elements = new InformationElement[template.fieldCount()];
        this.typeRecordLayout = TypeRecordLayout.of(template);
        resolve(view);
    }

    /** Looks the elements up again after the view has learned some. */
    void resolve(final ElementView view) {
        for (int i = 0; i < elements.length; i++) {
            final InformationElement named = template.field(i).element();
            elements[i] = view.find(named.enterpriseNumber(), named.elementId());
        }
    }

    /** Whether a template record of the given kind is the same as the one that made this template. */
    boolean matches(
        final boolean isOptions, final DirectBuffer buffer, final int offset, final int limit) {
        final int lengthBytes = definition.capacity();
        if (isOptions != template.isOptions() || limit - offset < lengthBytes) {
            return false;
        }
        for (int i = 0; i < lengthBytes; i++) {
            if (buffer.getByte(offset + i) != definition.getByte(i)) {
                return false;
            }
        }
        return true;
    }

    /** The length of the record at an offset, all of it before the limit. Returns octets, or -1 if the record is cut. */
    int recordLengthBytes(final DirectBuffer buffer, final int offset, final int limit) {
        if (!template.isVariableLength()) {
            return limit - offset >= template.minLengthBytes() ? template.minLengthBytes() : -1;
        }
        int position = offset;
        for (int i = 0; i < elements.length; i++) {
            final FieldSpecifier field = template.field(i);
            if (field.isVariableLength()) {
                if (position >= limit || position + MessageLayout.lengthPrefixBytes(buffer, position) > limit) {
                    return -1;
                }
                position += MessageLayout.lengthPrefixBytes(buffer, position) +
                    MessageLayout.variableLengthBytes(buffer, position);
            } else {
                position += field.lengthBytes();
            }
            if (position > limit) {
                return -1;
            }
        }
        return position - offset;
    }

    Template template() {
        return template;
    }

    int definitionLengthBytes() {
        return definition.capacity();
    }

    InformationElement element(final int index) {
        return elements[index];
    }

    /** Field positions of an RFC 5610 type record; null if this is another template. */
    TypeRecordLayout typeRecordLayout() {
        return typeRecordLayout;
    }

    long refreshedNs() {
        return refreshedNs;
    }

    void refreshedNs(final long nowNs) {
        refreshedNs = nowNs;
    }
}

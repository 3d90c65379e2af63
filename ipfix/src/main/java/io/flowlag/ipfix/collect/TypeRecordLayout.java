package io.flowlag.ipfix.collect;

import io.flowlag.ipfix.element.DataType;
import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.element.Semantics;
import io.flowlag.ipfix.element.Units;
import io.flowlag.ipfix.template.Template;

/**
 * Field positions of an RFC 5610 type record (section 3.9) in an options template: scope informationElementId and
 * privateEnterpriseNumber, then at least data type and name. Immutable; allocates when made and when it reads.
 */
final class TypeRecordLayout {
    private final int elementIdIndex;
    private final int enterpriseNumberIndex;
    private final int dataTypeIndex;
    private final int nameIndex;
    private final int semanticsIndex;
    private final int unitsIndex;

    private TypeRecordLayout(final Template template) {
        elementIdIndex = template.indexOf("informationElementId");
        enterpriseNumberIndex = template.indexOf("privateEnterpriseNumber");
        dataTypeIndex = template.indexOf("informationElementDataType");
        nameIndex = template.indexOf("informationElementName");
        semanticsIndex = template.indexOf("informationElementSemantics");
        unitsIndex = template.indexOf("informationElementUnits");
    }

    static TypeRecordLayout of(final Template template) {
        if (!template.isOptions()) {
            return null;
        }
        final TypeRecordLayout layout = new TypeRecordLayout(template);
        return layout.isComplete(template.scopeFieldCount()) ? layout : null;
    }

    private boolean isComplete(final int scopeFieldCount) {
        return elementIdIndex >= 0 && elementIdIndex < scopeFieldCount &&
            enterpriseNumberIndex >= 0 && enterpriseNumberIndex < scopeFieldCount &&
            dataTypeIndex >= scopeFieldCount && nameIndex >= scopeFieldCount;
    }

    /**
     * The element that a record describes, or null if the record does not form a valid element. The description text is ignored:
     * it is unused, and a peer could make it as long as a message.
     */
    InformationElement read(final CollectedRecord record) {
        final int elementId = (int)record.unsigned(elementIdIndex) & InformationElement.MAX_ELEMENT_ID;
        final String name = record.string(nameIndex);
        if (elementId == 0 || name.isEmpty() || name.indexOf('\0') >= 0) {
            return null;
        }
        return new InformationElement(
            (int)record.unsigned(enterpriseNumberIndex),
            elementId,
            name,
            DataType.ofNumber((int)record.unsigned(dataTypeIndex)),
            semanticsIndex < 0 ? Semantics.DEFAULT : Semantics.ofNumber((int)record.unsigned(semanticsIndex)),
            unitsIndex < 0 ? Units.NONE : Units.ofNumber((int)record.unsigned(unitsIndex)),
            "");
    }
}

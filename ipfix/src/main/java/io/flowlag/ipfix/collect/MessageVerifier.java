package io.flowlag.ipfix.collect;

import io.flowlag.ipfix.element.DataType;
import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.message.MessageHeader;
import io.flowlag.ipfix.message.SetHeader;
import io.flowlag.ipfix.template.FieldSpecifier;
import io.flowlag.ipfix.template.Template;
import org.agrona.DirectBuffer;

import java.util.ArrayList;
import java.util.List;

import static io.flowlag.ipfix.collect.MessageLayout.*;

/**
 * Checks every length of a message before its content is used (RFC 7011 sections 3 and 9), and notes the actions of its template
 * Sets; the session stays unchanged. A verified message can be decoded without further checks. Not thread-safe; allocates only
 * for template records that are new to the session.
 */
final class MessageVerifier {
    private static final int MAX_RECORD_BYTES =
        MessageHeader.MAX_MESSAGE_BYTES - MessageHeader.LENGTH_BYTES - SetHeader.LENGTH_BYTES;

    private final CollectorLimits limits;
    private final TemplateActions actions = new TemplateActions();
    private DirectBuffer buffer;
    private TransportSession session;
    private ObservationDomain domain;
    private long nowNs;
    private int nextRecordOffset;

    MessageVerifier(final CollectorLimits limits) {
        this.limits = limits;
    }

    /** The actions of the template Sets of the last verified message. */
    TemplateActions actions() {
        return actions;
    }

    MessageResult verify(
        final TransportSession session, final DirectBuffer buffer, final int offset, final int lengthBytes,
        final long nowNs) {
        actions.clear();
        if (lengthBytes < FRAMING_LENGTH_BYTES) {
            return MessageResult.MESSAGE_LENGTH;
        }
        if (MessageHeader.version(buffer, offset) != MessageHeader.VERSION) {
            return MessageResult.VERSION;
        }
        if (lengthBytes < MessageHeader.LENGTH_BYTES || MessageHeader.messageLengthBytes(buffer, offset) != lengthBytes) {
            return MessageResult.MESSAGE_LENGTH;
        }
        this.session = session;
        this.buffer = buffer;
        this.nowNs = nowNs;
        domain = session.findDomain(MessageHeader.observationDomainId(buffer, offset));
        return verifySets(offset + MessageHeader.LENGTH_BYTES, offset + lengthBytes);
    }

    private MessageResult verifySets(final int firstSetOffset, final int limit) {
        int setOffset = firstSetOffset;
        while (setOffset < limit) {
            if (limit - setOffset < SetHeader.LENGTH_BYTES) {
                return MessageResult.SET_LENGTH;
            }
            final int setLengthBytes = SetHeader.setLengthBytes(buffer, setOffset);
            if (setLengthBytes < SetHeader.LENGTH_BYTES || setLengthBytes > limit - setOffset) {
                return MessageResult.SET_LENGTH;
            }
            final MessageResult result = verifySet(setOffset, setOffset + setLengthBytes);
            if (result != MessageResult.ACCEPTED) {
                return result;
            }
            setOffset += setLengthBytes;
        }
        return MessageResult.ACCEPTED;
    }

    private MessageResult verifySet(final int setOffset, final int setLimit) {
        final int setId = SetHeader.setId(buffer, setOffset);
        if (setId >= Template.MIN_TEMPLATE_ID) {
            return verifyDataSet(setId, setOffset + SetHeader.LENGTH_BYTES, setLimit);
        }
        if (setId != SetHeader.TEMPLATE_SET_ID && setId != SetHeader.OPTIONS_TEMPLATE_SET_ID) {
            return MessageResult.SET_ID;
        }
        final boolean isOptions = setId == SetHeader.OPTIONS_TEMPLATE_SET_ID;
        int recordOffset = setOffset + SetHeader.LENGTH_BYTES;
        while (setLimit - recordOffset >= TEMPLATE_HEADER_LENGTH_BYTES) {
            final MessageResult result = verifyTemplateRecord(isOptions, setOffset, recordOffset, setLimit);
            if (result != MessageResult.ACCEPTED) {
                return result;
            }
            recordOffset = nextRecordOffset;
        }
        return MessageResult.ACCEPTED;
    }

    private MessageResult verifyDataSet(final int templateId, final int firstRecordOffset, final int setLimit) {
        final CollectedTemplate template = find(templateId);
        if (template == null) {
            return MessageResult.ACCEPTED;
        }
        final int minLengthBytes = template.template().minLengthBytes();
        if (firstRecordOffset < setLimit && setLimit - firstRecordOffset < minLengthBytes) {
            return MessageResult.RECORD_CUT;
        }
        if (!template.template().isVariableLength()) {
            return MessageResult.ACCEPTED;
        }
        int recordOffset = firstRecordOffset;
        while (setLimit - recordOffset >= minLengthBytes) {
            final int lengthBytes = template.recordLengthBytes(buffer, recordOffset, setLimit);
            if (lengthBytes < 0) {
                return MessageResult.RECORD_CUT;
            }
            recordOffset += lengthBytes;
        }
        return MessageResult.ACCEPTED;
    }

    private MessageResult verifyTemplateRecord(
        final boolean isOptions, final int setOffset, final int offset, final int setLimit) {
        final int templateId = unsignedShort(buffer, offset);
        if (unsignedShort(buffer, offset + FIELD_COUNT_OFFSET) == 0) {
            nextRecordOffset = offset + TEMPLATE_HEADER_LENGTH_BYTES;
            return noteWithdrawal(isOptions, setOffset, templateId);
        }
        if (templateId < Template.MIN_TEMPLATE_ID) {
            return MessageResult.TEMPLATE_ID;
        }
        final CollectedTemplate known = find(templateId);
        if (known != null && known.matches(isOptions, buffer, offset, setLimit)) {
            nextRecordOffset = offset + known.definitionLengthBytes();
            actions.refresh(setOffset, known);
            return MessageResult.ACCEPTED;
        }
        return verifyNewTemplate(isOptions, setOffset, offset, setLimit);
    }

    private MessageResult noteWithdrawal(final boolean isOptions, final int setOffset, final int templateId) {
        final boolean isEffective = session.kind().isReliable();
        if (templateId == (isOptions ? SetHeader.OPTIONS_TEMPLATE_SET_ID : SetHeader.TEMPLATE_SET_ID)) {
            actions.withdrawAll(setOffset, isOptions, isEffective);
            return MessageResult.ACCEPTED;
        }
        if (templateId < Template.MIN_TEMPLATE_ID) {
            return MessageResult.TEMPLATE_ID;
        }
        actions.withdraw(setOffset, templateId, isEffective);
        return MessageResult.ACCEPTED;
    }

    private MessageResult verifyNewTemplate(
        final boolean isOptions, final int setOffset, final int offset, final int setLimit) {
        final int fieldCount = unsignedShort(buffer, offset + FIELD_COUNT_OFFSET);
        final int headerLengthBytes = isOptions ? OPTIONS_TEMPLATE_HEADER_LENGTH_BYTES : TEMPLATE_HEADER_LENGTH_BYTES;
        if (setLimit - offset < headerLengthBytes + fieldCount * FIELD_LENGTH_BYTES) {
            return MessageResult.TEMPLATE_CUT;
        }
        final int scopeFieldCount = isOptions ? unsignedShort(buffer, offset + SCOPE_FIELD_COUNT_OFFSET) : 0;
        if (isOptions && (scopeFieldCount == 0 || scopeFieldCount > fieldCount)) {
            return MessageResult.TEMPLATE_SCOPE;
        }
        if (fieldCount > limits.maxFieldsPerTemplate()) {
            return MessageResult.TEMPLATE_FIELD_COUNT;
        }
        final MessageResult result = verifyFields(fieldCount, offset + headerLengthBytes, setLimit);
        if (result == MessageResult.ACCEPTED) {
            actions.install(setOffset, newTemplate(fieldCount, scopeFieldCount, offset, headerLengthBytes));
        }
        return result;
    }

    private MessageResult verifyFields(final int fieldCount, final int firstFieldOffset, final int setLimit) {
        int fieldOffset = firstFieldOffset;
        int minLengthBytes = 0;
        for (int i = 0; i < fieldCount; i++) {
            if (setLimit - fieldOffset < FIELD_LENGTH_BYTES) {
                return MessageResult.TEMPLATE_CUT;
            }
            final int elementId = unsignedShort(buffer, fieldOffset);
            final int lengthBytes = unsignedShort(buffer, fieldOffset + FIELD_LENGTH_OFFSET);
            if ((elementId & InformationElement.MAX_ELEMENT_ID) == 0) {
                return MessageResult.TEMPLATE_ELEMENT_ID;
            }
            minLengthBytes += lengthBytes == DataType.VARIABLE_LENGTH ? 1 : lengthBytes;
            fieldOffset += fieldLengthBytes(elementId);
        }
        if (fieldOffset > setLimit) {
            return MessageResult.TEMPLATE_CUT;
        }
        nextRecordOffset = fieldOffset;
        return minLengthBytes == 0 || minLengthBytes > MAX_RECORD_BYTES ?
            MessageResult.TEMPLATE_LENGTH : MessageResult.ACCEPTED;
    }

    private CollectedTemplate newTemplate(
        final int fieldCount, final int scopeFieldCount, final int offset, final int headerLengthBytes) {
        final List<FieldSpecifier> fields = new ArrayList<>(fieldCount);
        int fieldOffset = offset + headerLengthBytes;
        for (int i = 0; i < fieldCount; i++) {
            final int elementId = unsignedShort(buffer, fieldOffset);
            final int enterpriseNumber =
                (elementId & ENTERPRISE_BIT) == 0 ? 0 : integer(buffer, fieldOffset + FIELD_LENGTH_BYTES);
            final InformationElement element = element(enterpriseNumber, elementId & InformationElement.MAX_ELEMENT_ID);
            fields.add(new FieldSpecifier(element, unsignedShort(buffer, fieldOffset + FIELD_LENGTH_OFFSET)));
            fieldOffset += fieldLengthBytes(elementId);
        }
        final byte[] definition = new byte[nextRecordOffset - offset];
        buffer.getBytes(offset, definition);
        final int templateId = unsignedShort(buffer, offset);
        return new CollectedTemplate(new Template(templateId, scopeFieldCount, fields), definition, session.view());
    }

    private InformationElement element(final int enterpriseNumber, final int elementId) {
        final InformationElement known = session.view().find(enterpriseNumber, elementId);
        return known != null ? known : ElementView.unknown(enterpriseNumber, elementId);
    }

    private static int fieldLengthBytes(final int elementId) {
        return (elementId & ENTERPRISE_BIT) == 0 ? FIELD_LENGTH_BYTES : FIELD_LENGTH_BYTES + Integer.BYTES;
    }

    private CollectedTemplate find(final int templateId) {
        return actions.find(templateId, session.peek(domain, templateId, nowNs));
    }
}

package io.flowlag.ipfix.session;

import io.flowlag.ipfix.element.DataType;
import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.element.Semantics;
import io.flowlag.ipfix.message.RecordEncoder;
import io.flowlag.ipfix.message.Values;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;

/**
 * Writes the options records that RFC 7011 section 4, RFC 5477, RFC 7014, RFC 5610 and RFC 5655 define, with values that the
 * caller supplies. Each method writes one record and returns the result of {@link ExportingSession#claim}: an offset of 0 or
 * more if the record was accepted, {@link ExportingSession#NOT_SENT}, or {@link ExportingSession#BLOCKED}. The caller decides
 * when to write: type records once per {@link ExportingSession#transportSessionCount()}, and over UDP again with the templates;
 * statistics at an interval. All times are in milliseconds since the UNIX epoch.
 *
 * <p>Used by the session's thread. Templates come from the catalog on first use; a full catalog gives {@link
 * ExportingSession#NOT_SENT}. Allocates at construction and on first use of a method; nothing for text.
 */
public final class OptionsWriter {
    private static final long NANOSECONDS_PER_MILLISECOND = 1_000_000L;
    /** Value of selectorAlgorithm. */
    private static final int SYSTEMATIC_COUNT_BASED = 1;
    /** The same, of each packet by chance. */
    private static final int UNIFORM_PROBABILISTIC = 4;

    private final ExportingSession session;
    private final TemplateCatalog catalog;
    private final RecordEncoder encoder = new RecordEncoder();
    private Template typeInformation;
    private Template meteringStatistics;
    private Template meteringReliability;
    private Template exportingReliability;
    private Template flowKeys;
    private Template interfaceNames;
    private Template timeWindow;
    private Template sampling;
    private Template flowSelection;
    private long firstLossMs;
    private long lastLossMs;

    public OptionsWriter(final ExportingSession session, final TemplateCatalog catalog) {
        this.session = session;
        this.catalog = catalog;
    }

    /**
     * The type record of an enterprise element (RFC 5610 section 3.9), with all nine fields: libfixbuf ignores records with
     * fewer. The range is the type's for unsigned integers, and 0 to 0 (no information) for others.
     *
     * @param element of an enterprise; IANA's have no type record (section 3.9).
     * @throws IllegalArgumentException if the element is IANA's, or its type and semantics are incompatible (section 3.10).
     */
    public int typeInformation(final InformationElement element, final long nowMs) {
        checkDescribable(element);
        if (typeInformation == null) {
            typeInformation = catalog.optionsTemplate(2, "privateEnterpriseNumber", "informationElementId",
                "informationElementDataType", "informationElementSemantics", "informationElementUnits",
                "informationElementRangeBegin", "informationElementRangeEnd", "informationElementName",
                "informationElementDescription");
        }
        final int variableBytes =
            Values.stringLengthBytes(element.name()) + Values.stringLengthBytes(element.description());
        final int offset = claim(typeInformation, variableBytes - 2, nowMs);
        if (offset >= 0) {
            encoder.unsigned(element.enterpriseNumber() & 0xFFFF_FFFFL)
                .unsigned(element.elementId())
                .unsigned(element.type().number())
                .unsigned(element.semantics().number())
                .unsigned(element.units().number())
                .unsigned(0)
                .unsigned(rangeEnd(element.type()))
                .string(element.name())
                .string(element.description());
            session.commit();
        }
        return offset;
    }

    /**
     * Systematic count-based sampling (RFC 5477 section 6.5.2.1): a selector takes some packets, leaves some out, and so on. The
     * algorithm is of the scope too: nfdump 1.7.1 reads no interval behind it otherwise.
     *
     * @param taken   above 0.
     * @param leftOut 0 or more.
     */
    public int sampling(final long selectorId, final long taken, final long leftOut, final long nowMs) {
        if (sampling == null) {
            sampling = catalog.optionsTemplate(
                2, "selectorId", "selectorAlgorithm", "samplingPacketInterval", "samplingPacketSpace");
        }
        final int offset = claim(sampling, 0, nowMs);
        if (offset >= 0) {
            encoder.unsigned(selectorId).unsigned(SYSTEMATIC_COUNT_BASED).unsigned(taken).unsigned(leftOut);
            session.commit();
        }
        return offset;
    }

    /**
     * Uniform probabilistic sampling (RFC 5477): a selector takes each packet with the probability 1 / onePacketIn. The record
     * tells the mean distance as count-based sampling does too: nfdump 1.7.1 scales by nothing else.
     *
     * @param onePacketIn above 1.
     */
    public int randomSampling(final long selectorId, final long onePacketIn, final long nowMs) {
        if (sampling == null) {
            sampling = catalog.optionsTemplate(
                2, "selectorId", "selectorAlgorithm", "samplingPacketInterval", "samplingPacketSpace", "samplingProbability");
        }
        final int offset = claim(sampling, 0, nowMs);
        if (offset >= 0) {
            encoder.unsigned(selectorId).unsigned(UNIFORM_PROBABILISTIC).unsigned(1).unsigned(onePacketIn - 1)
                .floating(1.0 / onePacketIn);
            session.commit();
        }
        return offset;
    }

    /**
     * Uniform probabilistic selection of flows (RFC 7014): a selector takes each flow with the probability 1 / oneFlowIn, and all
     * of its packets: collectors multiply the number of flows, not a flow's packets.
     *
     * @param oneFlowIn 1 or more.
     */
    public int flowSelection(final long selectorId, final long oneFlowIn, final long nowMs) {
        if (flowSelection == null) {
            flowSelection = catalog.optionsTemplate(2, "selectorId", "flowSelectorAlgorithm", "samplingProbability");
        }
        final int offset = claim(flowSelection, 0, nowMs);
        if (offset >= 0) {
            encoder.unsigned(selectorId).unsigned(UNIFORM_PROBABILISTIC).floating(1.0 / oneFlowIn);
            session.commit();
        }
        return offset;
    }

    /** The Metering Process Statistics (RFC 7011 section 4.1); the scope is unsigned. */
    public int meteringStatistics(
        final int observationDomainId, final long messages, final long flowRecords, final long octets, final long nowMs) {
        if (meteringStatistics == null) {
            meteringStatistics = catalog.optionsTemplate(1, "observationDomainId",
                "exportedMessageTotalCount", "exportedFlowRecordTotalCount", "exportedOctetTotalCount");
        }
        final int offset = claim(meteringStatistics, 0, nowMs);
        if (offset >= 0) {
            encoder.unsigned(observationDomainId & 0xFFFF_FFFFL).unsigned(messages).unsigned(flowRecords).unsigned(octets);
            session.commit();
        }
        return offset;
    }

    /**
     * Sets the times for the next record of a reliability.
     *
     * @param firstMs when the first packet was ignored or the first record was lost.
     * @param lastMs  when the last one was.
     */
    public OptionsWriter between(final long firstMs, final long lastMs) {
        firstLossMs = firstMs;
        lastLossMs = lastMs;
        return this;
    }

    /** The Metering Process Reliability Statistics (RFC 7011 section 4.2), after {@link #between}; the scope is unsigned. */
    public int meteringReliability(
        final int observationDomainId, final long ignoredPackets, final long ignoredOctets, final long nowMs) {
        if (meteringReliability == null) {
            meteringReliability = catalog.optionsTemplate(1, "observationDomainId", "ignoredPacketTotalCount",
                "ignoredOctetTotalCount", "observationTimeMilliseconds", "observationTimeMilliseconds");
        }
        final int offset = claim(meteringReliability, 0, nowMs);
        if (offset >= 0) {
            encoder.unsigned(observationDomainId & 0xFFFF_FFFFL).unsigned(ignoredPackets).unsigned(ignoredOctets);
            commitWithTimes(firstLossMs, lastLossMs);
        }
        return offset;
    }

    /** The Exporting Process Reliability Statistics (RFC 7011 section 4.3), after {@link #between}; the scope is unsigned. */
    public int exportingReliability(
        final int exportingProcessId, final long notSentFlows, final long notSentPackets, final long notSentOctets,
        final long nowMs) {
        if (exportingReliability == null) {
            exportingReliability = catalog.optionsTemplate(1, "exportingProcessId", "notSentFlowTotalCount",
                "notSentPacketTotalCount", "notSentOctetTotalCount", "observationTimeMilliseconds",
                "observationTimeMilliseconds");
        }
        final int offset = claim(exportingReliability, 0, nowMs);
        if (offset >= 0) {
            encoder.unsigned(exportingProcessId & 0xFFFF_FFFFL)
                .unsigned(notSentFlows).unsigned(notSentPackets).unsigned(notSentOctets);
            commitWithTimes(firstLossMs, lastLossMs);
        }
        return offset;
    }

    /**
     * The Flow Keys of a template (RFC 7011 section 4.4); only the first 64 fields can be.
     *
     * @param described        the described template.
     * @param flowKeyIndicator bit n - 1 is set if the n-th field is a key.
     */
    public int flowKeys(final Template described, final long flowKeyIndicator, final long nowMs) {
        if (flowKeys == null) {
            flowKeys = catalog.optionsTemplate(1, "templateId", "flowKeyIndicator");
        }
        final int offset = claim(flowKeys, 0, nowMs);
        if (offset >= 0) {
            encoder.unsigned(described.templateId()).unsigned(flowKeyIndicator);
            session.commit();
        }
        return offset;
    }

    /**
     * The name of an interface.
     *
     * @param interfaceIndex as in ingressInterface and egressInterface; unsigned.
     * @param name           short, such as {@code eth0}.
     * @param description    longer; may be empty.
     */
    public int interfaceName(
        final int interfaceIndex, final CharSequence name, final CharSequence description, final long nowMs) {
        if (interfaceNames == null) {
            interfaceNames =
                catalog.optionsTemplate(1, "ingressInterface", "interfaceName", "interfaceDescription");
        }
        final int variableBytes = Values.stringLengthBytes(name) + Values.stringLengthBytes(description);
        final int offset = claim(interfaceNames, variableBytes - 2, nowMs);
        if (offset >= 0) {
            encoder.unsigned(interfaceIndex & 0xFFFF_FFFFL).string(name).string(description);
            session.commit();
        }
        return offset;
    }

    /**
     * The File Time Window (RFC 5655 section 8.1.2): one record in a file, before it is closed; no flow may lie outside.
     *
     * @param firstFlowStartMs the earliest start of any flow in the file.
     * @param lastFlowEndMs    the latest end of any flow in the file.
     */
    public int timeWindow(final long firstFlowStartMs, final long lastFlowEndMs, final long nowMs) {
        if (timeWindow == null) {
            timeWindow =
                catalog.optionsTemplate(1, "sessionScope", "minFlowStartMilliseconds", "maxFlowEndMilliseconds");
        }
        final int offset = claim(timeWindow, 0, nowMs);
        if (offset >= 0) {
            encoder.unsigned(0);
            commitWithTimes(firstFlowStartMs, lastFlowEndMs);
        }
        return offset;
    }

    /** Claims the shortest record plus some octets, and binds the encoder to it. */
    private int claim(final Template template, final int moreBytes, final long nowMs) {
        if (template == null) {
            return ExportingSession.NOT_SENT;
        }
        final int offset = session.claim(template, template.minLengthBytes() + moreBytes, nowMs);
        if (offset >= 0) {
            encoder.wrap(session.buffer(), offset, template);
        }
        return offset;
    }

    private void commitWithTimes(final long firstMs, final long lastMs) {
        encoder.timeNs(firstMs * NANOSECONDS_PER_MILLISECOND).timeNs(lastMs * NANOSECONDS_PER_MILLISECOND);
        session.commit();
    }

    private static long rangeEnd(final DataType type) {
        return type.isUnsigned() ? -1L >>> Long.SIZE - type.lengthBytes() * Byte.SIZE : 0;
    }

    private static void checkDescribable(final InformationElement element) {
        if (!element.isEnterprise()) {
            throw new IllegalArgumentException(element.name() + " is IANA's; only enterprise elements are described");
        }
        if (!goTogether(element.type(), element.semantics())) {
            throw new IllegalArgumentException(element.name() + " of type " + element.type().registryName() +
                " cannot have the semantics " + element.semantics().registryName());
        }
    }

    private static boolean goTogether(final DataType type, final Semantics semantics) {
        if (semantics == Semantics.DEFAULT) {
            return true;
        }
        return switch (type) {
            case UNSIGNED8, UNSIGNED16, UNSIGNED32, UNSIGNED64, UNSIGNED256 -> semantics != Semantics.LIST;
            case SIGNED8, SIGNED16, SIGNED32, SIGNED64 -> semantics != Semantics.LIST && semantics != Semantics.FLAGS;
            case FLOAT32, FLOAT64 ->
                semantics != Semantics.LIST && semantics != Semantics.FLAGS && semantics != Semantics.IDENTIFIER;
            case BASIC_LIST, SUB_TEMPLATE_LIST, SUB_TEMPLATE_MULTI_LIST -> semantics == Semantics.LIST;
            default -> false;
        };
    }
}

package io.flowlag.ipfix.support;

import io.flowlag.ipfix.element.DataType;
import io.flowlag.ipfix.element.ElementRegistry;
import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.element.Semantics;
import io.flowlag.ipfix.element.Units;
import io.flowlag.ipfix.message.RecordEncoder;
import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.session.SessionCounter;
import io.flowlag.ipfix.session.SessionStatistics;
import io.flowlag.ipfix.template.Template;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Records and checks that many tests use. */
public final class Records {
    /** RFC 5612's number for documentation. */
    public static final int DOCUMENTATION_ENTERPRISE = 32473;

    private Records() {
    }

    /** IANA's elements and two of an enterprise. */
    public static ElementRegistry registry() {
        final ElementRegistry registry = ElementRegistry.iana();
        registry.add(new InformationElement(DOCUMENTATION_ENTERPRISE, 5, "testDelayMeanNanoseconds", DataType.SIGNED64,
            Semantics.QUANTITY, Units.NANOSECONDS, "Mean one-way delay."));
        registry.add(new InformationElement(DOCUMENTATION_ENTERPRISE, 3, "testDelaySquareSum", DataType.FLOAT64,
            Semantics.QUANTITY, Units.NONE, "Sum of squares."));
        return registry;
    }

    /** Writes one record of (sourceIPv4Address, packetDeltaCount); what claim said. */
    public static int putPair(
        final ExportingSession session, final Template template, final int address, final long packets, final long nowMs) {
        final int offset = session.claim(template, template.recordLengthBytes(), nowMs, packets, packets * 100);
        if (offset >= 0) {
            new RecordEncoder().wrap(session.buffer(), offset, template).ipv4Address(address).unsigned(packets);
            session.commit();
        }
        return offset;
    }

    /** The identity: every record is exported, failed, waiting or given back. */
    public static void assertBooksBalance(final SessionStatistics statistics) {
        final long[] values = new long[SessionCounter.count()];
        statistics.snapshot(values);
        long failed = 0;
        for (int i = 0; i < values.length; i++) {
            failed += SessionCounter.of(i).isFailure() ? values[i] : 0;
        }
        assertEquals(values[SessionCounter.RECORDS_ACCEPTED.ordinal()],
            values[SessionCounter.RECORDS_EXPORTED.ordinal()] + failed + values[SessionCounter.RECORDS_WAITING.ordinal()] +
                values[SessionCounter.RECORDS_RETURNED.ordinal()]);
        assertEquals(values[SessionCounter.OPTIONS_RECORDS_ACCEPTED.ordinal()],
            values[SessionCounter.OPTIONS_RECORDS_EXPORTED.ordinal()] +
                values[SessionCounter.OPTIONS_RECORDS_FAILED.ordinal()] +
                values[SessionCounter.OPTIONS_RECORDS_WAITING.ordinal()]);
    }
}

package io.flowlag.exporter.export;

import io.flowlag.exporter.status.DelayDistribution;
import io.flowlag.exporter.status.DelaySummary;
import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.session.SessionSettings;
import io.flowlag.ipfix.template.TemplateCatalog;
import io.flowlag.ipfix.transport.FileTransport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

class DelayOptionsWriterTest {
    private static final long NOW_MS = 1_700_000_000_000L;
    private static final String DEVIATION = "flowlagDelayStandardDeviationNanoseconds";

    @TempDir
    Path directory;

    @Test
    void shouldLeaveOutTheDeviationOfAClassWithOneDelay() throws IOException {
        final Path file = directory.resolve("options.ipfix");
        final TemplateCatalog catalog =
            new TemplateCatalog(FlowElements.registry(FlowElements.DOCUMENTATION_ENTERPRISE_NUMBER), 64);
        final ExportingSession session = new ExportingSession(new FileTransport(file), new SessionSettings(), catalog);
        final DelayOptionsWriter writer = new DelayOptionsWriter(session, catalog);
        session.doWork(NOW_MS);
        writer.summary(1, summary(1, null), "estimates", NOW_MS);
        writer.summary(1, summary(2, 0L), "estimates", NOW_MS);
        session.flush(NOW_MS);
        session.close();

        final List<Map<String, List<String>>> records = IpfixRecords.options(file);
        assertEquals(List.of("-5"), records.get(0).get("flowlagDelayMinimumNanoseconds"));
        assertEquals(List.of("7"), records.get(0).get("flowlagDelayMaximumNanoseconds"));
        assertFalse(records.get(0).containsKey(DEVIATION));
        assertEquals(List.of("0"), records.get(1).get(DEVIATION));
        assertEquals(List.of("-5"), records.get(1).get("flowlagDelayMinimumNanoseconds"));
    }

    private static DelaySummary summary(final long count, final Long deviationNs) {
        return new DelaySummary(0, 0, 46, 0, 1, DelayDistribution.EMPTY,
            new DelayDistribution(count, 0, 2, deviationNs, -5, 7, null, null, null, null, null, null), DelayDistribution.EMPTY,
            0, 0, 0, null);
    }
}

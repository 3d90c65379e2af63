package io.flowlag.exporter.status;

import org.junit.jupiter.api.Test;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class StageErrorsTest {
    private static IllegalStateException fault(final int line) {
        final IllegalStateException fault = new IllegalStateException("of the test, number " + line);
        fault.setStackTrace(new StackTraceElement[]{new StackTraceElement("Some", "method", "Some.java", line)});
        return fault;
    }

    @Test
    void shouldKeepEachKindOnceWithItsCount() {
        final StageErrors errors = new StageErrors();
        for (int i = 0; i < 1000; i++) {
            errors.onError(fault(1));
        }
        errors.onError(fault(2));
        assertEquals(1001, errors.count());
        final List<DistinctError> distinct = errors.distinct();
        assertEquals(2, distinct.size());
        assertEquals(1000, distinct.stream().mapToLong(DistinctError::count).max().orElse(0));
        assertTrue(distinct.get(0).kind().startsWith("java.lang.IllegalStateException at Some.method(Some.java:"));
        assertTrue(distinct.get(0).lastMs() >= distinct.get(0).firstMs());
    }

    @Test
    void shouldStayBoundedWhateverComes() {
        final StageErrors errors = new StageErrors();
        for (int i = 0; i < 100; i++) {
            errors.onError(fault(i));
        }
        assertEquals(100, errors.count());
        assertEquals(64, errors.distinct().size());
    }
}

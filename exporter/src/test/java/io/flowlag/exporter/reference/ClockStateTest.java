package io.flowlag.exporter.reference;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ClockStateTest {
    private static final int STA_PLL = 1;
    private static final int STA_UNSYNC = 0x40;
    private static final int STA_NANO = 0x2000;
    private static final int TIME_OK = 0;
    private static final int TIME_ERROR = 5;

    @TempDir
    private Path directory;

    private ClockState.Reading of(final String text) throws IOException {
        final Path file = Files.writeString(directory.resolve("clock"), text);
        return ClockState.file(file, System::currentTimeMillis).reading();
    }

    /** As {@code struct timex} has it on 64-bit Linux. */
    private static UnsafeBuffer timex(final int status, final long maximumErrorUs) {
        final UnsafeBuffer timex = new UnsafeBuffer(new byte[208]);
        timex.putLong(24, maximumErrorUs, ByteOrder.nativeOrder());
        timex.putInt(40, status, ByteOrder.nativeOrder());
        return timex;
    }

    @ParameterizedTest
    @CsvSource({"350ns, 350", "'# by chrony\n\n 12.5 us\n', 12500", "0.25ms, 250000", "1s, 1000000000", "0ns, 0", "1.2ns, 2"})
    void shouldReadANumberWithAUnit(final String text, final long errorNs) throws IOException {
        final ClockState.Reading reading = of(text);

        assertEquals(errorNs, reading.boundNs());
        assertTrue(reading.isSynchronized());
        assertEquals("", reading.notice());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "350", "-5ns", "about 3ns", "3 min", "# 3ns", "1e3ns", "99999999999999999999ns"})
    void shouldKnowNothingFromAnythingElse(final String text) throws IOException {
        final ClockState.Reading reading = of(text);

        assertEquals(ClockState.UNKNOWN_NS, reading.boundNs());
        assertFalse(reading.isSynchronized());
        assertTrue(reading.notice().contains("number with a unit"), reading.notice());
    }

    @Test
    void shouldTakeOverWhatTheFileSaysNow() throws IOException {
        final Path file = Files.writeString(directory.resolve("clock"), "1us");
        final ClockState state = ClockState.file(file, System::currentTimeMillis);
        Files.writeString(file, "2us");
        assertEquals(1_000, state.reading().boundNs());

        state.refresh();

        assertEquals(2_000, state.reading().boundNs());
    }

    @Test
    void shouldNotTrustAFileThatIsOldOrGone() throws IOException {
        final Path file = Files.writeString(directory.resolve("clock"), "1us");
        final long writtenMs = Files.getLastModifiedTime(file).toMillis();
        final long[] nowMs = {writtenMs + ClockState.FILE_PATIENCE_MS};
        final ClockState state = ClockState.file(file, () -> nowMs[0]);
        assertEquals(1_000, state.reading().boundNs());

        nowMs[0]++;
        state.refresh();
        assertEquals(ClockState.UNKNOWN_NS, state.reading().boundNs());
        assertTrue(state.reading().notice().contains("has stopped"), state.reading().notice());

        Files.delete(file);
        state.refresh();
        assertEquals(ClockState.UNKNOWN_NS, state.reading().boundNs());
        assertTrue(state.reading().notice().contains("no such file"), state.reading().notice());
    }

    @Test
    void shouldReadWhatTheKernelSays() {
        final ClockState.Reading reading = ClockState.decode(timex(STA_PLL | STA_NANO, 1_234), TIME_OK);

        assertEquals(1_234_000, reading.boundNs());
        assertEquals("", reading.notice());
    }

    @Test
    void shouldHaveNoBoundForAClockThatNothingDisciplines() {
        for (final ClockState.Reading reading : new ClockState.Reading[]{
            ClockState.decode(timex(STA_PLL | STA_UNSYNC, 16_000_000), TIME_ERROR),
            ClockState.decode(timex(STA_PLL, 500), TIME_ERROR)}) {
            assertFalse(reading.isSynchronized());
            assertEquals(ClockState.UNKNOWN_NS, reading.boundNs());
            assertTrue(reading.notice().contains("STA_UNSYNC"), reading.notice());
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void shouldAskTheKernelOfThisHost() {
        final ClockState.Reading reading = ClockState.adjtimex().reading();

        assertTrue(reading.errorNs() >= 0, reading::toString);
        assertEquals(reading.isSynchronized(), reading.notice().isEmpty());
    }

    @Test
    void shouldKeepWhatTheConfigurationStates() {
        final ClockState state = ClockState.fixed(1_000_000);
        state.refresh();
        assertEquals(1_000_000, state.reading().boundNs());
    }
}

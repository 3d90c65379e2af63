package io.flowlag.station.job;

import io.flowlag.network.window.IntervalDelay;
import io.flowlag.network.window.MeanSource;
import io.flowlag.network.window.WindowDelay;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A change of delay is found, stays on while there are alarms, and ends; its state says the same when it is read again. */
class SegmentChangeTest {
    private static final long MINUTE_NS = 60_000_000_000L;
    private static final long START_NS = 1_700_000_000_000_000_000L / MINUTE_NS * MINUTE_NS;

    private static SegmentChange restored(final SegmentChange change) throws Exception {
        final DataOutputSerializer out = new DataOutputSerializer(64);
        SegmentChange.Serializer.instance().serialize(change, out);
        assertTrue(out.length() < 20_000, "windows that are not there take room: " + out.length());
        return SegmentChange.Serializer.instance().deserialize(new DataInputDeserializer(out.getCopyOfBuffer()));
    }

    @ParameterizedTest
    @ValueSource(longs = {10_000_000_000L, MINUTE_NS})
    void shouldFindAChangeAndTheSameBehindARestart(final long windowNs) throws Exception {
        final Random random = new Random(3);
        final SegmentChange whole = new SegmentChange(SegmentChange.stepNs(windowNs));
        SegmentChange parts = new SegmentChange(SegmentChange.stepNs(windowNs));
        final int minutes = 8 * 60;
        final int changed = 6 * 60 + 10;
        long foundNs = 0;
        for (long window = 0; window < minutes * MINUTE_NS / windowNs; window++) {
            final long startNs = START_NS + window * windowNs;
            final boolean isSlow = startNs >= START_NS + changed * MINUTE_NS && startNs < START_NS + (changed + 20) * MINUTE_NS;
            final WindowDelay delay = new WindowDelay();
            delay.add(new IntervalDelay(MeanSource.EXACT, 400, 400, 1e6 + 1e3 * random.nextGaussian() + (isSlow ? 1e5 : 0), 1e5,
                1e3, 0, 1e5, 1e7));
            whole.onWindow(startNs, startNs + windowNs, delay);
            parts.onWindow(startNs, startNs + windowNs, delay);
            parts = window % 50 == 0 ? restored(SegmentChange.Serializer.instance().copy(parts)) : parts;
            assertEquals(whole.isOn(), parts.isOn());
            assertEquals(whole.changeNs(), parts.changeNs());
            if (whole.isOn() && foundNs == 0) {
                foundNs = startNs;
                assertEquals(1e5, whole.changeNs(), 2e4);
            }
            assertEquals(whole.ends(), parts.ends());
        }
        assertTrue(foundNs >= START_NS + changed * MINUTE_NS && foundNs < START_NS + (changed + 6) * MINUTE_NS);
        assertFalse(whole.isOn(), "it is over");
    }
}

package io.flowlag.exporter.monitoring;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.StringWriter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The history in steps of time: each value in its own step, the newest steps alone, unknown as unknown. */
class HistoryStepsTest {
    private static final long S = 1_000_000_000L;
    private static final int CAPACITY = 5;

    private final HistorySteps steps = new HistorySteps(10 * S, CAPACITY, 2);

    private static JsonNode json(final HistorySteps steps) throws IOException {
        final StringWriter text = new StringWriter();
        try (JsonGenerator json = new ObjectMapper().createGenerator(text)) {
            steps.write(json);
        }
        return new ObjectMapper().readTree(text.toString());
    }

    private String values(final HistoryField field) throws IOException {
        return json(steps).at("/classes/0").get(field.label()).toString();
    }

    /** Against a model that keeps all. */
    @Property(tries = 200)
    void shouldKeepTheSumOfEachOfTheNewestSteps(
        @ForAll @Size(min = 1, max = 40) final List<@LongRange(min = 0, max = 40) Long> pauses,
        @ForAll @IntRange(min = 1, max = 9) final int capacity) throws IOException {
        final HistorySteps kept = new HistorySteps(10 * S, capacity, 1);
        final Map<Long, Long> model = new HashMap<>();
        long timeS = 1000;
        for (final long pause : pauses) {
            timeS += pause;
            kept.add("all", timeS * S, HistoryField.PACKETS, pause);
            model.merge(timeS / 10, pause, Long::sum);
        }
        final JsonNode json = json(kept);
        final int shown = json.get("times").size();
        assertTrue(shown <= capacity);
        for (int i = 0; i < shown; i++) {
            final long step = timeS / 10 - shown + 1 + i;
            assertEquals(model.get(step) == null ? "null" : model.get(step).toString(),
                json.at("/classes/0/packets/" + i).toString());
        }
        assertEquals(Math.min(capacity, timeS / 10 - (1000 + pauses.get(0)) / 10 + 1), shown);
    }

    @Test
    void shouldWeighMeansAndForgetABoundThatOnePartLacks() throws IOException {
        steps.addMean("all", 0, 10, 10, 100, 5);
        steps.addMean("all", S, 30, 2, 200, 9);
        assertEquals("[175]", values(HistoryField.DELAY_MEAN_NS), "of the packets, not of the samples");
        assertEquals("[8]", values(HistoryField.DELAY_BOUND_NS));
        assertEquals("[12]", values(HistoryField.DELAY_SAMPLES));
        steps.addMean("all", 2 * S, 0, 1, 200, Double.NaN);
        assertEquals("[null]", values(HistoryField.DELAY_BOUND_NS));
        assertEquals("[null]", values(HistoryField.LOST), "nothing was said");
    }

    @Test
    void shouldSayAtMostWhereTheLossIsNotKnown() throws IOException {
        steps.add("all", 0, HistoryField.LOST, 3);
        steps.add("all", 0, HistoryField.LOST_BOUND, 3);
        steps.add("all", 10 * S, HistoryField.LOST, HistorySteps.UNKNOWN);
        steps.add("all", 10 * S, HistoryField.LOST, 4);
        steps.add("all", 10 * S, HistoryField.LOST_BOUND, 9);
        assertEquals("[3,null]", values(HistoryField.LOST));
        assertEquals("[null,9]", values(HistoryField.LOST_BOUND));
    }

    @Test
    void shouldTakeLateValuesAndStartAgainWhenTheClockIsSetBack() throws IOException {
        steps.add("all", 100 * S, HistoryField.PACKETS, 1);
        steps.add("all", 120 * S, HistoryField.PACKETS, 2);
        steps.add("all", 95 * S, HistoryField.PACKETS, 7);
        assertEquals("[7,1,null,2]", values(HistoryField.PACKETS));
        steps.add("all", -3600 * S, HistoryField.PACKETS, 4);
        assertEquals("[4]", values(HistoryField.PACKETS));
        assertEquals("1969-12-31T23:00:00Z", json(steps).at("/times/0").asText());
    }

    @Test
    void shouldKeepNoMoreSeriesThanItHasRoomFor() throws IOException {
        for (final String name : List.of("a", "b", "c")) {
            steps.add(name, 0, HistoryField.PACKETS, 1);
            steps.set(name, 0, HistoryField.UTILIZATION_PPM, 5);
        }
        assertEquals(2, json(steps).get("classes").size());
    }
}

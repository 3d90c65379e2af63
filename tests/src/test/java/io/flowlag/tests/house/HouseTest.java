package io.flowlag.tests.house;

import io.flowlag.tests.house.Walk.Way;
import io.flowlag.tests.support.Checkout;
import io.flowlag.tests.support.Flowlag;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.nio.file.Files;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A packet and an interval enter the files that the page names, and not more than when the limits were set. */
@Timeout(300)
class HouseTest {
    private static final int MOST_FILES_OF_A_PACKET = 140;
    private static final int MOST_PACKAGES_OF_A_PACKET = 35;
    private static final int MOST_FILES_OF_A_REFERENCE = 52;
    private static final int MOST_FILES_OF_AN_INTERVAL = 165;
    private static final int MOST_PACKAGES_OF_AN_INTERVAL = 25;

    /** Of live processes, and of two: the trace is of captures, in one process. */
    private static final Set<String> ELSEWHERE =
        Set.of("PacketRing", "UdpTransport", "ExchangeConnector", "ExchangeVerifier", "IntervalAssembler");
    private static final Pattern STEP = Pattern.compile("`[\\w/]*?(\\w+)\\.java`");

    private static TracedRun run;

    @BeforeAll
    static void trace() throws Exception {
        new Flowlag();
        run = TracedRun.ofOneProcess(Checkout.jar());
    }

    @Test
    void shouldEnterEachStepOfThePage() throws IOException {
        final Set<String> steps = new TreeSet<>();
        STEP.matcher(Files.readString(Checkout.root().resolve("docs/packet-path.md"))).results()
            .forEach(step -> steps.add(step.group(1)));
        steps.removeAll(ELSEWHERE);
        for (final Way way : Way.values()) {
            run.files(way).forEach(file -> steps.remove(file.replaceAll(".*/|\\.java", "")));
        }
        assertEquals(Set.of(), steps);
    }

    @Test
    void shouldEnterFewFiles() {
        assertEquals(EnumSet.complementOf(EnumSet.of(Walk.ASSEMBLE)), run.calls().keySet(), "names of methods in Walk");
        assertFew(MOST_FILES_OF_A_PACKET, run.files(Way.PACKET));
        assertFew(MOST_PACKAGES_OF_A_PACKET, run.packages(Way.PACKET));
        assertFew(MOST_FILES_OF_A_REFERENCE, run.files(Way.REFERENCE));
        assertFew(MOST_FILES_OF_AN_INTERVAL, run.files(Way.INTERVAL));
        assertFew(MOST_PACKAGES_OF_AN_INTERVAL, run.packages(Way.INTERVAL));
        assertEquals(List.of("capture", "metering", "exporting"), run.threads(Way.PACKET));
        assertEquals(List.of("metering"), run.threads(Way.INTERVAL));
    }

    private static void assertFew(final int limit, final Set<String> names) {
        assertTrue(names.size() <= limit, () -> names.size() + ": " + names);
    }
}

package io.flowlag.exporter.config;

import io.flowlag.common.config.BadValueException;
import io.flowlag.common.config.Names;
import io.flowlag.common.config.UnitValue;
import io.flowlag.common.config.ValueType;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.StringLength;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ConfigPropertiesTest {
    private static final List<String> PIECES = List.of("metering", "capture", "exporting", "destinations", "max-flows", "uri",
        ":",
        ": ", "\n", "\n  ", "- ", "[", "]", "{", "}", ", ", "'", "\"", "#", "&a ", "*a", "!!x ", "? ", "| ", "> ", "---", "\t",
        "60s", "128k",
        "udp://host", "\u0000", "\ud83d\ude00", "%YAML 9", "null", "~");

    @Property(tries = 200)
    void shouldReadADurationInEveryUnit(@ForAll @IntRange(min = 1, max = 80) final int number) throws BadValueException {
        final ValueType<Long> type = UnitValue.duration("1ns", "90d");
        assertEquals(number, type.parse(number + "ns"));
        assertEquals(number * 1_000L, type.parse(number + "us"));
        assertEquals(number * 1_000_000L, type.parse(number + "ms"));
        assertEquals(number * 1_000_000_000L, type.parse(number + " s"));
        assertEquals(number * 60_000_000_000L, type.parse(number + "m"));
        assertEquals(number * 3_600_000_000_000L, type.parse(number + "h"));
        assertEquals(number * 86_400_000_000_000L, type.parse(number + "d"));
    }

    @Property(tries = 200)
    void shouldRefuseEveryBareDurationWithAWayOutThatHolds(@ForAll @LongRange(min = 0, max = 1_000_000) final long number)
        throws BadValueException {
        final ValueType<Long> type = UnitValue.duration("0s", "90d");
        final BadValueException refusal = assertThrows(BadValueException.class, () -> type.parse(Long.toString(number)));
        final String suggestion = refusal.getMessage().replaceAll(".*write ([0-9]+[a-z]+) .*", "$1");
        assertEquals(number * 1_000_000_000L, type.parse(suggestion));
    }

    @Property(tries = 200)
    void shouldCountOctetsIn1024AndRatesIn1000(@ForAll @IntRange(min = 1, max = 1000) final int number) throws BadValueException {
        final ValueType<Long> octets = UnitValue.octets("1", "1000g");
        assertEquals(number, octets.parse(Integer.toString(number)));
        assertEquals(number * 1024L, octets.parse(number + "k"));
        assertEquals((long)number << 20, octets.parse(number + "M"));
        assertEquals((long)number << 30, octets.parse(number + "g"));
        assertEquals(number * 1_000_000L, UnitValue.bitRate("1k", "1000g").parse(number + "m"));
    }

    @Property(tries = 500)
    void shouldNeverOverflow(@ForAll @LongRange(min = 1) final long number) {
        final ValueType<Long> type = UnitValue.octets("1", "1000g");
        try {
            final long value = type.parse(number + "g");
            assertEquals(number, value >> 30);
        } catch (final BadValueException ex) {
            assertTrue(number > 1000, ex.getMessage());
        }
    }

    @Property(tries = 300)
    void shouldFindTheKeyThatOneTypingMistakeWasMeantFor(@ForAll("paths") final String path, @ForAll @IntRange(min = 0, max =
        99) final int at) {
        final String name = path.substring(path.lastIndexOf('.') + 1);
        final int index = at % name.length();
        final String mistaken = name.substring(0, index) + "q" + name.substring(index);
        assertEquals(name, Names.nearest(mistaken, List.of("zzzzzzzz", name)));
    }

    @Property(tries = 1000)
    void shouldAcceptOrRefuseAnyTextAndNothingElse(@ForAll("texts") final String text) {
        try {
            assertFalse(new ConfigLoader().text("f", text).conclude().effectiveValues().isEmpty());
        } catch (final ConfigurationException ex) {
            assertTrue(ex.errors().stream().allMatch((line) -> line.startsWith("f:") && !line.contains("\n")), ex.getMessage());
        }
    }

    @Property(tries = 500)
    void shouldAcceptOrRefuseAnyDestinationAndNothingElse(@ForAll @StringLength(max = 30) final String text) {
        try {
            assertFalse(DestinationUri.of("udp://" + text).host().isEmpty());
        } catch (final IllegalArgumentException ex) {
            assertTrue(ex.getMessage().startsWith("udp://" + text + ": "), ex.getMessage());
        }
    }

    @Provide
    Arbitrary<String> paths() {
        return Arbitraries.of(ConfigTable.keys().stream().map(ConfigKey::path).filter((path) -> path.length() > 3).toList());
    }

    @Provide
    Arbitrary<String> texts() {
        final Arbitrary<String> anything = Arbitraries.strings().ofMaxLength(3);
        return Combinators.combine(Arbitraries.of(PIECES), anything, Arbitraries.integers().between(0, 9))
            .as((piece, other, choice) -> choice == 0 ? other : piece).list().ofMaxSize(20).map((parts) -> String.join("",
                parts));
    }
}

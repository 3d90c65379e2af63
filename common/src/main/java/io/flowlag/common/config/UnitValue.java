package io.flowlag.common.config;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A whole number with a unit: durations, counts, octets and rates. They differ in their units and in the meaning of a bare
 * number.
 */
public final class UnitValue {
    private static final Pattern NUMBER_AND_UNIT = Pattern.compile("([0-9]+) ?([A-Za-z/]*)");
    private static final Map<String, Long> TIME_UNITS = units(
        "ns", 1L, "us", 1_000L, "ms", 1_000_000L, "s", 1_000_000_000L, "m", 60_000_000_000L, "h", 3_600_000_000_000L,
        "d", 86_400_000_000_000L);
    private static final Map<String, Long> BINARY_UNITS = units("k", 1L << 10, "m", 1L << 20, "g", 1L << 30);
    private static final Map<String, Long> DECIMAL_UNITS = units("k", 1_000L, "m", 1_000_000L, "g", 1_000_000_000L);

    private final String noun;
    private final Map<String, Long> units;
    private final String usualUnit;
    private final boolean bareAllowed;
    private final boolean powerOfTwo;
    private final long minimum;
    private final long maximum;
    private final String range;

    private UnitValue(final String noun, final Map<String, Long> units, final String usualUnit, final boolean bareAllowed,
        final boolean powerOfTwo, final String minimumText, final String maximumText) {
        this.noun = noun;
        this.units = units;
        this.usualUnit = usualUnit;
        this.bareAllowed = bareAllowed;
        this.powerOfTwo = powerOfTwo;
        this.range = minimumText + " to " + maximumText;
        this.minimum = constant(minimumText);
        this.maximum = constant(maximumText);
    }

    /** A duration in ns; a bare number is refused. */
    public static ValueType<Long> duration(final String minimum, final String maximum) {
        return type(new UnitValue("duration", TIME_UNITS, "s", false, false, minimum, maximum));
    }

    /** A rate in bits/s, decimal units. */
    public static ValueType<Long> bitRate(final String minimum, final String maximum) {
        return type(new UnitValue("rate", DECIMAL_UNITS, "m", true, false, minimum, maximum));
    }

    /** Octets; k is 1024. */
    public static ValueType<Long> octets(final String minimum, final String maximum) {
        return type(new UnitValue("number of octets", BINARY_UNITS, "m", true, false, minimum, maximum));
    }

    /** A number of octets that is a power of two, as a ring needs. */
    public static ValueType<Long> ringOctets(final String minimum, final String maximum) {
        return type(new UnitValue("number of octets", BINARY_UNITS, "m", true, true, minimum, maximum));
    }

    /** A count; k is 1024. */
    public static ValueType<Long> count(final String minimum, final String maximum) {
        return type(new UnitValue("count", BINARY_UNITS, "k", true, false, minimum, maximum));
    }

    private static ValueType<Long> type(final UnitValue value) {
        return ValueType.of(value.syntax(), value::parse);
    }

    private Long parse(final String text) throws BadValueException {
        final Matcher matcher = NUMBER_AND_UNIT.matcher(text);
        if (!matcher.matches()) {
            throw new BadValueException("is no " + noun + ": write a whole number" + wantedUnit() + ", " + range);
        }
        final String unit = matcher.group(2);
        if (unit.isEmpty() && !bareAllowed) {
            final String fitting = fittingUnit(text, usualUnit);
            throw new BadValueException("a " + noun + " needs a unit: write " +
                (fitting == null ? range : text + fitting) + " (units " + unitNames() + ")");
        }
        final Long factor = unit.isEmpty() ? Long.valueOf(1L) : factor(unit);
        if (factor == null) {
            throw new BadValueException("'" + unit + "' is no unit of a " + noun + ": use " + unitNames() + unitHint());
        }
        return inRange(matcher.group(1), unit, multiply(matcher.group(1), factor));
    }

    private String syntax() {
        return noun + (units == DECIMAL_UNITS ? " in bits/s" : "") + (powerOfTwo ? ", a power of two" : "") + ", " + range;
    }

    private Long inRange(final String digits, final String unit, final long value) throws BadValueException {
        if (value < minimum || value > maximum) {
            throw new BadValueException("must be " + range + suggestion(digits, unit));
        }
        if (powerOfTwo && Long.bitCount(value) != 1) {
            throw new BadValueException("must be a power of two: " + below(value) + " or " + below(value << 1));
        }
        return value;
    }

    private String suggestion(final String digits, final String unit) {
        final String fitting = unit.isEmpty() || units == TIME_UNITS ? fittingUnit(digits, unit) : null;
        return fitting == null ? "" : "; did you mean " + digits + fitting + "?";
    }

    /** The usual unit if the value is in range with it, else the nearest to the text, or null if there is none. */
    private String fittingUnit(final String digits, final String unit) {
        if (isInRange(digits, usualUnit)) {
            return usualUnit;
        }
        final List<String> names = List.copyOf(units.keySet());
        final int written = names.indexOf(units.containsKey(unit) ? unit : usualUnit);
        return names.stream().filter((each) -> isInRange(digits, each))
            .min(Comparator.comparingInt((each) -> Math.abs(names.indexOf(each) - written))).orElse(null);
    }

    private boolean isInRange(final String digits, final String unit) {
        final long value = multiply(digits, units.get(unit));
        return value >= minimum && value <= maximum;
    }

    private static String below(final long value) {
        final long power = Long.highestOneBit(value);
        if (power >= 1L << 20) {
            return (power >> 20) + "m";
        }
        return power >= 1L << 10 ? (power >> 10) + "k" : Long.toString(power);
    }

    private Long factor(final String unit) {
        final Long exact = units.get(unit);
        return exact != null || units == TIME_UNITS ? exact : units.get(unit.toLowerCase(Locale.ROOT));
    }

    private long constant(final String text) {
        final Matcher matcher = NUMBER_AND_UNIT.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalStateException("range limit " + text);
        }
        return multiply(matcher.group(1), matcher.group(2).isEmpty() ? 1L : factor(matcher.group(2)));
    }

    private static long multiply(final String digits, final long factor) {
        if (digits.length() > 18) {
            return Long.MAX_VALUE;
        }
        final long number = Long.parseLong(digits);
        return number > Long.MAX_VALUE / factor ? Long.MAX_VALUE : number * factor;
    }

    private String wantedUnit() {
        return (bareAllowed ? ", with a unit or not (" : " and a unit (") + unitNames() + ")";
    }

    private String unitNames() {
        return String.join(", ", units.keySet());
    }

    private String unitHint() {
        if (units == TIME_UNITS) {
            return "";
        }
        return units == DECIMAL_UNITS ? " (k is 1000 bits/s)" : " (k is 1024)";
    }

    private static Map<String, Long> units(final Object... namesAndFactors) {
        final Map<String, Long> units = new LinkedHashMap<>();
        for (int i = 0; i < namesAndFactors.length; i += 2) {
            units.put((String)namesAndFactors[i], (Long)namesAndFactors[i + 1]);
        }
        return units;
    }
}

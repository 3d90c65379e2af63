package io.flowlag.exporter.config;

import io.flowlag.common.config.BadValueException;
import io.flowlag.common.config.Names;
import io.flowlag.common.config.Prefix;
import io.flowlag.common.config.ValueType;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** The value types other than numbers with units, each a function that makes the type. */
final class ValueTypes {
    /** The text for "none". */
    static final String NONE = "none";
    /** The text for "auto". */
    static final String AUTO = "auto";

    private ValueTypes() {
    }

    /** A whole number without unit. */
    static ValueType<Long> number(final long minimum, final long maximum) {
        return ValueType.of("number, " + minimum + " to " + maximum, (text) -> {
            if (!text.matches("[0-9]{1,18}")) {
                throw new BadValueException("is no whole number: write " + minimum + " to " + maximum + ", without a unit");
            }
            final long value = Long.parseLong(text);
            if (value < minimum || value > maximum) {
                throw new BadValueException("must be " + minimum + " to " + maximum);
            }
            return value;
        });
    }

    /** One of an enum's constants, written in lower case with hyphens. */
    static <E extends Enum<E>> ValueType<E> choice(final Class<E> type) {
        final List<String> names = Arrays.stream(type.getEnumConstants()).map(ValueTypes::name).toList();
        final String listed = "one of " + String.join(", ", names);
        return ValueType.of(listed, (text) -> {
            if (!names.contains(text)) {
                throw new BadValueException("must be " + listed + Names.didYouMean(text, names));
            }
            return type.getEnumConstants()[names.indexOf(text)];
        });
    }

    /** On or off; true and false are accepted too. */
    static ValueType<Boolean> onOff() {
        return ValueType.of("on or off", (text) -> switch (text) {
            case "on", "true" -> Boolean.TRUE;
            case "off", "false" -> Boolean.FALSE;
            default -> throw new BadValueException("must be on or off");
        });
    }

    /** Any nonempty text. */
    static ValueType<String> text(final String noun) {
        return ValueType.of(noun, (text) -> {
            if (text.isBlank()) {
                throw new BadValueException("is empty: write a " + noun + ", or leave the key out");
            }
            return text;
        });
    }

    /** A share, such as 0.85. */
    static ValueType<Double> fraction() {
        return ValueType.of("share, 0 to 1", (text) -> {
            if (!text.matches("0|1|[01]?\\.[0-9]{1,9}") || Double.parseDouble(text) > 1) {
                throw new BadValueException("is no share: write a number from 0 to 1, such as 0.85");
            }
            return Double.valueOf(text);
        });
    }

    /** Average bandwidth limit of references: a share of the link's capacity, such as 1% or 0.01, or a rate. */
    static ValueType<ReferenceCeiling> shareOr(final ValueType<Long> rate) {
        return ValueType.of("share of the capacity, such as 1%, or " + rate.syntax(), (text) -> {
            final boolean isPercent = text.matches("[0-9]{1,3}(\\.[0-9]{1,9})?%");
            if (!isPercent && !text.matches("0?\\.[0-9]{1,9}")) {
                return new ReferenceCeiling(0, rate.parse(text));
            }
            final double share =
                isPercent ? Double.parseDouble(text.substring(0, text.length() - 1)) / 100 : Double.parseDouble(text);
            if (!(share > 0 && share <= 1)) {
                throw new BadValueException("is no share: write more than 0% and up to 100%, such as 1%");
            }
            return new ReferenceCeiling(share, 0);
        });
    }

    /** An address prefix. */
    static ValueType<Prefix> prefix() {
        return ValueType.of("prefix", Prefix::parse);
    }

    /** A sender of references. */
    static ValueType<ExporterConfig.Sender> sender() {
        return ValueType.of("sender", SenderText::parse);
    }

    /** A host and a port; without a host it is loopback, where allowed. */
    static ValueType<HostPort> hostPort(final boolean isHostNeeded) {
        return ValueType.of(
            isHostNeeded ? "HOST:PORT" : "PORT or ADDRESS:PORT", (text) -> HostPort.parse(text, isHostNeeded));
    }

    /** The path of a file; {@link Relations} checks whether it must exist. */
    static ValueType<Path> path() {
        return ValueType.of("path", (text) -> {
            if (text.isBlank()) {
                throw new BadValueException("is empty: write a path, or leave the key out");
            }
            try {
                return Path.of(text);
            } catch (final InvalidPathException ex) {
                throw new BadValueException("is no path: " + ex.getReason());
            }
        });
    }

    /** The type, or a reserved word that stands for null. */
    static <T> ValueType<T> orWord(final String word, final ValueType<T> type) {
        return ValueType.of(type.syntax() + ", or " + word, (text) -> word.equals(text) ? null : type.parse(text));
    }

    /** A list without duplicates; a single value is a list of one. */
    static <T> ValueType<List<T>> list(final ValueType<T> type) {
        return ValueType.listOf(type.syntax(), (texts) -> {
            final Set<T> values = new LinkedHashSet<>();
            for (final String text : texts) {
                if (!values.add(type.parse(text))) {
                    throw new BadValueException("names '" + text + "' twice: leave one out");
                }
            }
            return List.copyOf(values);
        });
    }

    /** Shares in order, as a list or separated by commas; duplicates are allowed. */
    static ValueType<List<Double>> fractions() {
        final ValueType<Double> type = fraction();
        return ValueType.listOf(type.syntax(), (texts) -> {
            final List<Double> values = new ArrayList<>();
            for (final String text : texts) {
                for (final String each : text.split(",", -1)) {
                    values.add(type.parse(each.strip()));
                }
            }
            return List.copyOf(values);
        });
    }

    /** A rule that gives flows a weight. */
    static ValueType<WeightRule> weightRule() {
        return ValueType.of("conditions (src, dst, sport, dport, port, proto, dscp) and weight, as name=value", (text) -> {
            try {
                return WeightRule.parse(text);
            } catch (final IllegalArgumentException ex) {
                throw new BadValueException(ex.getMessage());
            }
        });
    }

    /** The text of an enum's constant in files and on the command line. */
    static String name(final Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}

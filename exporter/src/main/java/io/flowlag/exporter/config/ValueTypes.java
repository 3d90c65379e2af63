package io.flowlag.exporter.config;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

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
        return new ValueType<>() {
            @Override
            Long parse(final String text) throws BadValueException {
                if (!text.matches("[0-9]{1,18}")) {
                    throw new BadValueException("is no whole number: write " + minimum + " to " + maximum + ", without a unit");
                }
                final long value = Long.parseLong(text);
                if (value < minimum || value > maximum) {
                    throw new BadValueException("must be " + minimum + " to " + maximum);
                }
                return value;
            }

            @Override
            String syntax() {
                return "number, " + minimum + " to " + maximum;
            }
        };
    }

    /** One of an enum's constants, written in lower case with hyphens. */
    static <E extends Enum<E>> ValueType<E> choice(final Class<E> type) {
        return new ValueType<>() {
            @Override
            E parse(final String text) throws BadValueException {
                for (final E constant : type.getEnumConstants()) {
                    if (name(constant).equals(text)) {
                        return constant;
                    }
                }
                throw new BadValueException("must be one of " + names(type) + Names.didYouMean(text, nameList(type)));
            }

            @Override
            String syntax() {
                return "one of " + names(type);
            }
        };
    }

    /** On or off; true and false are accepted too. */
    static ValueType<Boolean> onOff() {
        return new ValueType<>() {
            @Override
            Boolean parse(final String text) throws BadValueException {
                switch (text) {
                    case "on":
                    case "true":
                        return Boolean.TRUE;
                    case "off":
                    case "false":
                        return Boolean.FALSE;
                    default:
                        throw new BadValueException("must be on or off");
                }
            }

            @Override
            String syntax() {
                return "on or off";
            }
        };
    }

    /** Any nonempty text. */
    static ValueType<String> text(final String noun) {
        return new ValueType<>() {
            @Override
            String parse(final String text) throws BadValueException {
                if (text.isBlank()) {
                    throw new BadValueException("is empty: write a " + noun + ", or leave the key out");
                }
                return text;
            }

            @Override
            String syntax() {
                return noun;
            }
        };
    }

    /** A share, such as 0.85. */
    static ValueType<Double> fraction() {
        return new ValueType<>() {
            @Override
            Double parse(final String text) throws BadValueException {
                if (!text.matches("0|1|[01]?\\.[0-9]{1,9}") || Double.parseDouble(text) > 1) {
                    throw new BadValueException("is no share: write a number from 0 to 1, such as 0.85");
                }
                return Double.valueOf(text);
            }

            @Override
            String syntax() {
                return "share, 0 to 1";
            }
        };
    }

    /** Average bandwidth limit of references: a share of the link's capacity, such as 1% or 0.01, or a rate. */
    static ValueType<ReferenceCeiling> shareOr(final ValueType<Long> rate) {
        return new ValueType<>() {
            @Override
            ReferenceCeiling parse(final String text) throws BadValueException {
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
            }

            @Override
            String syntax() {
                return "share of the capacity, such as 1%, or " + rate.syntax();
            }
        };
    }

    /** An address prefix. */
    static ValueType<Prefix> prefix() {
        return new ValueType<>() {
            @Override
            Prefix parse(final String text) throws BadValueException {
                return Prefix.parse(text);
            }

            @Override
            String syntax() {
                return "prefix";
            }
        };
    }

    /** A sender of references. */
    static ValueType<ExporterConfig.Sender> sender() {
        return new ValueType<>() {
            @Override
            ExporterConfig.Sender parse(final String text) throws BadValueException {
                return SenderText.parse(text);
            }

            @Override
            String syntax() {
                return "sender";
            }
        };
    }

    /** A host and a port; without a host it is loopback, where allowed. */
    static ValueType<HostPort> hostPort(final boolean isHostNeeded) {
        return new ValueType<>() {
            @Override
            HostPort parse(final String text) throws BadValueException {
                return HostPort.parse(text, isHostNeeded);
            }

            @Override
            String syntax() {
                return isHostNeeded ? "HOST:PORT" : "PORT or ADDRESS:PORT";
            }
        };
    }

    /** The path of a file; {@link Relations} checks whether it must exist. */
    static ValueType<Path> path() {
        return new ValueType<>() {
            @Override
            Path parse(final String text) throws BadValueException {
                if (text.isBlank()) {
                    throw new BadValueException("is empty: write a path, or leave the key out");
                }
                try {
                    return Path.of(text);
                } catch (final InvalidPathException e) {
                    throw new BadValueException("is no path: " + e.getReason());
                }
            }

            @Override
            String syntax() {
                return "path";
            }
        };
    }

    /** The type, or a reserved word that stands for null. */
    static <T> ValueType<T> orWord(final String word, final ValueType<T> type) {
        return new ValueType<>() {
            @Override
            T parse(final String text) throws BadValueException {
                return word.equals(text) ? null : type.parse(text);
            }

            @Override
            String syntax() {
                return type.syntax() + ", or " + word;
            }
        };
    }

    /** A list without duplicates; a single value is a list of one. */
    static <T> ValueType<List<T>> list(final ValueType<T> type) {
        return new ValueType<>() {
            @Override
            List<T> parse(final String text) throws BadValueException {
                return parseAll(List.of(text));
            }

            @Override
            List<T> parseAll(final List<String> texts) throws BadValueException {
                final Set<T> values = new LinkedHashSet<>();
                for (final String text : texts) {
                    if (!values.add(type.parse(text))) {
                        throw new BadValueException("names '" + text + "' twice: leave one out");
                    }
                }
                return List.copyOf(new ArrayList<>(values));
            }

            @Override
            boolean isList() {
                return true;
            }

            @Override
            String syntax() {
                return "list of: " + type.syntax();
            }
        };
    }

    /** Shares in order, as a list or separated by commas; duplicates are allowed. */
    static ValueType<List<Double>> fractions() {
        final ValueType<Double> type = fraction();
        return new ValueType<>() {
            @Override
            List<Double> parse(final String text) throws BadValueException {
                return parseAll(List.of(text));
            }

            @Override
            List<Double> parseAll(final List<String> texts) throws BadValueException {
                final List<Double> values = new ArrayList<>();
                for (final String text : texts) {
                    for (final String each : text.split(",", -1)) {
                        values.add(type.parse(each.strip()));
                    }
                }
                return List.copyOf(values);
            }

            @Override
            boolean isList() {
                return true;
            }

            @Override
            String syntax() {
                return "list of: " + type.syntax();
            }
        };
    }

    /** A rule that gives flows a weight. */
    static ValueType<WeightRule> weightRule() {
        return new ValueType<>() {
            @Override
            WeightRule parse(final String text) throws BadValueException {
                try {
                    return WeightRule.parse(text);
                } catch (final IllegalArgumentException ex) {
                    throw new BadValueException(ex.getMessage());
                }
            }

            @Override
            String syntax() {
                return "conditions (src, dst, sport, dport, port, proto, dscp) and weight, as name=value";
            }
        };
    }

    /** The text of an enum's constant in files and on the command line. */
    static String name(final Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static String names(final Class<? extends Enum<?>> type) {
        return String.join(", ", nameList(type));
    }

    private static List<String> nameList(final Class<? extends Enum<?>> type) {
        return Arrays.stream(type.getEnumConstants()).map(ValueTypes::name).collect(Collectors.toList());
    }
}

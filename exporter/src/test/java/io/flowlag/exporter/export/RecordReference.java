package io.flowlag.exporter.export;

import io.flowlag.exporter.config.ExporterConfig.Profile;
import io.flowlag.exporter.flow.EndReason;
import io.flowlag.ipfix.element.ElementRegistry;
import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.element.Semantics;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The tables of {@code docs/records.md}, from {@link RecordField}, {@link Presence} and the registry. Has no state. */
final class RecordReference {
    private static final ElementRegistry REGISTRY = FlowElements.registry(FlowElements.DOCUMENTATION_ENTERPRISE_NUMBER);

    /** The page says this once. */
    private static final String ESTIMATED = ": estimates unless the estimator is exact packet match";
    private static final String SMOOTHED = "; interpolation smooths peaks, so tails lean low";

    private RecordReference() {
    }

    /**
     * Every field of a flow record, in the order of templates; a row for neighbours of the same profile and condition. The table
     * of enterprise elements has the names of those.
     */
    static String fields() {
        final StringBuilder text = new StringBuilder("| elements | from profile | present when |\n|---|---|---|\n");
        String last = "";
        for (final RecordField field : RecordField.values()) {
            final InformationElement element = REGISTRY.element(field.elementName());
            final String rest = " | " + lower(profile(field)) + " | " + condition(field) + " |\n";
            final boolean isSame = rest.equals(last);
            text.append(isSame ? ", " : last + "| " + (element.isEnterprise() ? "PEN " : ""))
                .append(element.isEnterprise() ? "" : "`" + element.name() + "` ").append(element.elementId());
            last = rest;
        }
        return text.append(last).toString();
    }

    /** Every enterprise element. */
    static String enterpriseElements() {
        final StringBuilder text = new StringBuilder(
            "| id | element | type | semantics | unit | meaning |\n|---|---|---|---|---|---|\n");
        for (final InformationElement element : enterprise()) {
            text.append("| ").append(element.elementId()).append(" | `").append(element.name()).append("` | ")
                .append(element.type().registryName()).append(" | ")
                .append(element.semantics() == Semantics.DEFAULT ? "" : element.semantics().registryName()).append(" | ")
                .append(unit(element)).append(" | ").append(element.description().replace(ESTIMATED, "").replace(SMOOTHED, ""))
                .append(" |\n");
        }
        return text.toString();
    }

    private static String unit(final InformationElement element) {
        return switch (element.units()) {
            case NANOSECONDS -> "ns";
            case MICROSECONDS -> "µs";
            case MILLISECONDS -> "ms";
            default -> element.units().registryName();
        };
    }

    /** The values of flowEndReason. */
    static String endReasons() {
        final StringBuilder text = new StringBuilder("| value | reason | counter |\n|---|---|---|\n");
        for (final EndReason reason : EndReason.values()) {
            text.append("| ").append(reason.code()).append(" | ").append(lower(reason).replace('_', ' ')).append(" | `")
                .append(reason.counterId().label()).append("` |\n");
        }
        return text.toString();
    }

    /** The elements that collectors may not know: path delay and flowlag's own, in this order. */
    static List<InformationElement> elementsToDefine() {
        final List<InformationElement> elements = new ArrayList<>();
        Arrays.stream(RecordField.values()).filter((field) -> profile(field) == Profile.STANDARD)
            .map((field) -> REGISTRY.element(field.elementName())).forEach(elements::add);
        elements.addAll(enterprise());
        return elements;
    }

    private static List<InformationElement> enterprise() {
        return REGISTRY.elements().stream().filter(InformationElement::isEnterprise)
            .sorted(Comparator.comparingInt(InformationElement::elementId)).toList();
    }

    /** Whether a flow record can have the element today. */
    static boolean isField(final InformationElement element) {
        return Arrays.stream(RecordField.values()).anyMatch((field) -> field.elementName().equals(element.name()));
    }

    private static Profile profile(final RecordField field) {
        return Stream.of(Profile.values()).filter((profile) -> base(field, profile) >= 0).findFirst().orElseThrow();
    }

    /** What must and must not hold, read off the groups with which the field is sent. */
    private static String condition(final RecordField field) {
        final int base = base(field, Profile.FULL);
        final List<String> conditions = new ArrayList<>();
        for (int bit = 1; bit > 0; bit <<= 1) {
            if (!field.isSent(Profile.FULL, base ^ bit)) {
                conditions.add((base & bit) != 0 ? ifPresent(bit) : ifAbsent(bit));
            }
        }
        return conditions.isEmpty() ? "always" : String.join(", ", conditions);
    }

    private static String ifPresent(final int bit) {
        return switch (bit) {
            case Presence.IPV6 -> "IPv6";
            case Presence.ICMP -> "ICMP";
            case Presence.VLAN -> "the first packet has a VLAN tag";
            case Presence.DELAY -> "per-packet delays by the mean's estimator";
            case Presence.SAMPLES -> "per-packet delays";
            case Presence.MEAN_US -> "the mean delay is known, not negative and fits";
            case Presence.MINIMUM_US -> "the smallest delay is known, not negative and fits";
            case Presence.MAXIMUM_US -> "the largest delay is known, not negative and fits";
            case Presence.SUM_US -> "every packet is behind the mean, and the sum is not negative";
            case Presence.BOUND ->
                "the mean has a bound";
            case Presence.UNEXPECTED -> "unexpected packets are known";
            case Presence.MEAN -> "a mean delay is known";
            case Presence.DEVIATION -> "the mean's estimator has one: from two delays on, or from sketches";
            case Presence.SKETCH -> "the sketches have a mean";
            case Presence.CLOCK -> "the error of the clocks is known";
            case Presence.CORRECTED -> "`clock.correct`";
            case Presence.SEGMENT -> "the flow is of a segment";
            case Presence.P50 -> "20 delays or more, distribution";
            case Presence.P90 -> "100 delays or more, distribution";
            case Presence.P95 -> "200 delays or more, distribution";
            case Presence.P99 -> "1000 delays or more, distribution";
            case Presence.P999 -> "10 000 delays or more, distribution";
            case Presence.QUANTILE_ERROR -> "quantiles are of sampled packets";
            case Presence.INTERPOLATED -> "packets have interpolated delays, and the mean is another estimator's";
            case Presence.LOSS -> "loss is known";
            case Presence.BIFLOW -> "`metering.biflow`, both directions";
            case Presence.MAC -> "`metering.mac`, Ethernet";
            case Presence.TCP -> "`metering.tcp`, TCP";
            case Presence.TCP_HANDSHAKE -> "the connection's first SYN was followed";
            case Presence.TCP_SYN -> "both directions were seen, and its SYN once";
            case Presence.TCP_ROUND_TRIP -> "both directions were seen";
            default -> throw new IllegalArgumentException("bit " + bit + " has no words");
        };
    }

    private static String ifAbsent(final int bit) {
        if (bit != Presence.IPV6) {
            throw new IllegalArgumentException("the absence of bit " + bit + " has no words");
        }
        return "IPv4";
    }

    /** Groups with which the field is sent: all of them, but for those that exclude it; -1 if it never is. */
    private static int base(final RecordField field, final Profile profile) {
        final int all = Presence.ALL;
        return IntStream.of(all, all & ~Presence.IPV6).filter((mask) -> field.isSent(profile, mask)).findFirst().orElse(-1);
    }

    private static String lower(final Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }
}

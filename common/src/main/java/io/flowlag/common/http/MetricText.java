package io.flowlag.common.http;

import io.flowlag.common.http.MetricFamily.Type;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;

import java.util.Collection;
import java.util.List;
import java.util.Locale;

/**
 * Metrics as text: the Prometheus text format 0.0.4, or OpenMetrics 1.0.0, in which a counter's family has no {@code _total} and
 * the text ends with {@code # EOF}. Stateless.
 */
public final class MetricText {
    private static final String PROMETHEUS_TYPE = "text/plain; version=0.0.4; charset=utf-8";
    private static final String OPEN_METRICS_TYPE = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    private static final double LARGEST_EXACT = 9.0e15;

    private MetricText() {
    }

    /** {@return families in the format that a request asks for} */
    public static HttpResponse response(final Request request, final Collection<MetricFamily> families) {
        final boolean isOpenMetrics = HttpRules.header(request, HttpHeader.ACCEPT).contains("application/openmetrics-text");
        return HttpResponse.of(200, isOpenMetrics ? OPEN_METRICS_TYPE : PROMETHEUS_TYPE, write(families, isOpenMetrics));
    }

    /** {@return the families that have samples, in order} */
    public static String write(final Collection<MetricFamily> families, final boolean isOpenMetrics) {
        final StringBuilder out = new StringBuilder(1 << 16);
        for (final MetricFamily family : families) {
            if (!family.samples().isEmpty()) {
                write(family, isOpenMetrics, out);
            }
        }
        return isOpenMetrics ? out.append("# EOF\n").toString() : out.toString();
    }

    private static void write(final MetricFamily family, final boolean isOpenMetrics, final StringBuilder out) {
        final String name = family.name() + (family.type() == Type.COUNTER && !isOpenMetrics ? "_total" : "");
        out.append("# HELP ").append(name).append(' ').append(escapedHelp(family.help(), isOpenMetrics)).append('\n');
        out.append("# TYPE ").append(name).append(' ').append(typeName(family.type(), isOpenMetrics)).append('\n');
        for (final MetricFamily.Sample sample : family.samples()) {
            out.append(family.name()).append(sample.suffix());
            labels(sample.labels(), out);
            out.append(' ').append(number(sample.value())).append('\n');
        }
    }

    private static String typeName(final Type type, final boolean isOpenMetrics) {
        return type == Type.UNTYPED && isOpenMetrics ? "unknown" : type.name().toLowerCase(Locale.ROOT);
    }

    private static void labels(final List<String> labels, final StringBuilder out) {
        for (int i = 0; i < labels.size(); i += 2) {
            out.append(i == 0 ? '{' : ',').append(labels.get(i)).append("=\"").append(escaped(labels.get(i + 1))).append('"');
        }
        if (!labels.isEmpty()) {
            out.append('}');
        }
    }

    private static String escaped(final String value) {
        return value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }

    private static String escapedHelp(final String help, final boolean isOpenMetrics) {
        return isOpenMetrics ? escaped(help) : help.replace("\\", "\\\\").replace("\n", "\\n");
    }

    /** {@return a value as both formats write it} */
    public static String number(final double value) {
        if (Double.isNaN(value)) {
            return "NaN";
        }
        if (Double.isInfinite(value)) {
            return value > 0 ? "+Inf" : "-Inf";
        }
        return value == Math.rint(value) && Math.abs(value) < LARGEST_EXACT ? Long.toString((long)value) : Double.toString(value);
    }
}

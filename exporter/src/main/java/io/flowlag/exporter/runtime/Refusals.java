package io.flowlag.exporter.runtime;

import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;

/** Packets that are in no flow, in words. Stateless. */
final class Refusals {
    private static final String PREFIX = "refused_";

    private Refusals() {
    }

    /** Each reason with its number, such as {@code 3 not ip}, except the link-layer type; empty without any. */
    static String text(final Counters counters) {
        final StringBuilder text = new StringBuilder();
        for (int i = 0; i < CounterId.count(); i++) {
            final CounterId id = CounterId.of(i);
            if (id.label().startsWith(PREFIX) && id != CounterId.REFUSED_LINK_TYPE && counters.get(id) > 0) {
                text.append(text.length() == 0 ? "" : ", ").append(counters.get(id)).append(' ')
                    .append(id.label().substring(PREFIX.length()).replace('_', ' '));
            }
        }
        return text.toString();
    }
}

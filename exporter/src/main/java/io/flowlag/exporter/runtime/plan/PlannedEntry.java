package io.flowlag.exporter.runtime.plan;

import io.flowlag.common.config.Prefix;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;

/**
 * A segment as two exporters measure it: an entry of {@code segments} at each. A segment with more prefixes than the exchange
 * takes has several entries.
 *
 * @param name         of the segment in the network's file.
 * @param id           of {@code segment.id}.
 * @param from         node of the sender.
 * @param to           node of the receiver.
 * @param sources      prefixes of its packets' sources.
 * @param destinations prefixes of its packets' destinations.
 */
record PlannedEntry(String name, long id, int from, int to, List<Prefix> sources, List<Prefix> destinations) {
    private static final int HALF_BITS = Long.SIZE;
    private static final int IPV4_BITS = 32;
    private static final int IPV6_BITS = 128;
    private static final Comparator<Prefix> ORDER = Comparator.comparing(Prefix::isIpv6)
        .thenComparing(Prefix::high, Long::compareUnsigned).thenComparing(Prefix::low, Long::compareUnsigned)
        .thenComparing(Prefix::lengthBits);

    /** The same addresses in fewer prefixes: two halves are a whole, and what lies in another prefix goes. */
    static List<Prefix> merged(final Collection<Prefix> prefixes) {
        final TreeSet<Prefix> left = new TreeSet<>(ORDER);
        final List<Prefix> open = new ArrayList<>(prefixes);
        while (!open.isEmpty()) {
            final Prefix next = open.remove(open.size() - 1);
            final Prefix other = next.lengthBits() == 0 ? next : otherHalf(next);
            if (next.lengthBits() > 0 && left.remove(other)) {
                open.add(new Prefix(next.isIpv6(), next.high(), next.low(), next.lengthBits() - 1).network());
            } else {
                left.add(next);
            }
        }
        final List<Prefix> apart = new ArrayList<>();
        for (final Prefix each : left) {
            if (apart.isEmpty() || !apart.get(apart.size() - 1).overlaps(each)) {
                apart.add(each);
            }
        }
        return apart;
    }

    private static Prefix otherHalf(final Prefix prefix) {
        final int behind = (prefix.isIpv6() ? IPV6_BITS : IPV4_BITS) - prefix.lengthBits();
        return behind >= HALF_BITS ?
            new Prefix(prefix.isIpv6(), prefix.high() ^ 1L << behind - HALF_BITS, prefix.low(), prefix.lengthBits()) :
            new Prefix(prefix.isIpv6(), prefix.high(), prefix.low() ^ 1L << behind, prefix.lengthBits());
    }
}

package io.flowlag.exporter.delay;

import io.flowlag.common.config.Prefix;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Different prefixes of one IP version in order: the one of length 0 first, and each right before those in it. Immutable.
 */
final class Prefixes {
    private static final Comparator<Prefix> ORDER = Comparator.comparingLong((final Prefix each) -> each.high() ^ Long.MIN_VALUE)
        .thenComparingLong((each) -> each.low() ^ Long.MIN_VALUE).thenComparingInt(Prefix::lengthBits);

    private final List<Prefix> prefixes = new ArrayList<>();
    private final Map<Prefix, Integer> indexes = new HashMap<>();
    private final int[] parents;

    /** The prefixes of an IP version, and the one of length 0. */
    Prefixes(final boolean isIpv6, final Stream<Prefix> some) {
        Stream.concat(Stream.of(all(isIpv6)), some.map(Prefix::network)).distinct().sorted(ORDER).forEach(prefixes::add);
        parents = new int[prefixes.size()];
        for (int i = 0; i < prefixes.size(); i++) {
            indexes.put(prefixes.get(i), i);
            int parent = Math.max(0, i - 1);
            while (!prefixes.get(parent).overlaps(prefixes.get(i))) {
                parent = parents[parent];
            }
            parents[i] = parent;
        }
    }

    /** {@return the prefix of every address of an IP version} */
    static Prefix all(final boolean isIpv6) {
        return new Prefix(isIpv6, 0, 0, 0);
    }

    int count() {
        return prefixes.size();
    }

    Prefix get(final int index) {
        return prefixes.get(index);
    }

    int indexOf(final Prefix prefix) {
        return indexes.get(prefix.network());
    }

    /** {@return the index of the longest prefix around another, which is not longer than some bits; the first has itself} */
    int ancestor(final int index, final int longestBits) {
        int ancestor = index;
        while (prefixes.get(ancestor).lengthBits() > longestBits) {
            ancestor = parents[ancestor];
        }
        return ancestor;
    }

    /** {@return the index of the longest prefix around another} */
    int parent(final int index) {
        return parents[index];
    }

    /** {@return the index behind the last prefix that lies in one} */
    int end(final int index) {
        int end = index + 1;
        while (end < prefixes.size() && prefixes.get(index).overlaps(prefixes.get(end))) {
            end++;
        }
        return end;
    }

    /** {@return a prefix of each length above 0, the shortest first} */
    List<Prefix> oneOfEachLength() {
        final Map<Integer, Prefix> levels = new TreeMap<>();
        prefixes.forEach((prefix) -> levels.put(prefix.lengthBits(), prefix));
        levels.remove(0);
        return List.copyOf(levels.values());
    }
}

package io.flowlag.exporter.listing;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Names of applications by their port, from a table of IANA's names. A name says which port a flow has, not what is in it.
 * Immutable; any thread.
 */
final class Applications {
    private static final String RESOURCE = "services.txt";
    private static final int PORT_BITS = 16;
    private static final Map<String, String> BY_WORD = new HashMap<>();
    private static final Map<Integer, String> BY_PORT = read();

    private Applications() {
    }

    private static Map<Integer, String> read() {
        final Map<Integer, String> byPort = new HashMap<>();
        try (BufferedReader lines = new BufferedReader(
            new InputStreamReader(Applications.class.getResourceAsStream(RESOURCE), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                final String[] words = line.split(" ");
                for (int i = 0; i < words.length && !line.startsWith("#"); i++) {
                    final int protocol = i < 2 ? -1 : Protocols.number(words[i]);
                    if (protocol >= 0) {
                        byPort.put(protocol << PORT_BITS | Integer.parseInt(words[1]), words[0]);
                    } else if (i != 1) {
                        BY_WORD.put(words[i], words[0]);
                    }
                }
            }
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
        return byPort;
    }

    /**
     * The name of either port; the smaller port's if both have one, so that both directions of a conversation have the same.
     *
     * @return the name; null if no port has one.
     */
    static String name(final int protocol, final int onePort, final int otherPort) {
        final String smaller = BY_PORT.get(protocol << PORT_BITS | Math.min(onePort, otherPort));
        return smaller != null ? smaller : BY_PORT.get(protocol << PORT_BITS | Math.max(onePort, otherPort));
    }

    /** {@return the name that a word stands for; null if there is none} */
    static String named(final String word) {
        return BY_WORD.get(word.toLowerCase(Locale.ROOT));
    }
}

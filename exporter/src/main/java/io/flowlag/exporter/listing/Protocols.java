package io.flowlag.exporter.listing;

import java.util.Locale;

/** Names of protocols above IP. Stateless. */
public final class Protocols {
    static final int TCP = 6;
    private static final int LARGEST = 255;

    private Protocols() {
    }

    /** {@return the protocol's name, or its number} */
    public static String name(final int number) {
        return switch (number) {
            case 1 -> "ICMP";
            case 2 -> "IGMP";
            case TCP -> "TCP";
            case 17 -> "UDP";
            case 47 -> "GRE";
            case 50 -> "ESP";
            case 58 -> "ICMP6";
            case 89 -> "OSPF";
            case 132 -> "SCTP";
            default -> Integer.toString(number);
        };
    }

    /** {@return the number of a protocol that is given by its name or number, 0 to 255; -1 if there is none} */
    static int number(final String text) {
        for (int number = 0; number <= LARGEST; number++) {
            if (name(number).equals(text.toUpperCase(Locale.ROOT)) || Integer.toString(number).equals(text)) {
                return number;
            }
        }
        return -1;
    }
}

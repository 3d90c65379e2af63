package io.flowlag.ipfix.collect;

import org.agrona.DirectBuffer;

/** Addresses and octets as text. Stateless; allocates only to grow the builder. */
public final class FieldText {
    private static final String HEX = "0123456789abcdef";
    private static final int IPV6_GROUPS = 8;

    private FieldText() {
    }

    /** Appends an IPv4 address of four octets in dotted decimal. */
    public static void appendIpv4(final StringBuilder text, final DirectBuffer buffer, final int offset) {
        for (int i = 0; i < Integer.BYTES; i++) {
            if (i > 0) {
                text.append('.');
            }
            text.append(buffer.getByte(offset + i) & 0xFF);
        }
    }

    /**
     * Appends an IPv6 address as RFC 5952 section 4 wants it: lower case, the longest run of two or more zero groups shortened.
     *
     * @param offset of its sixteen octets.
     */
    public static void appendIpv6(final StringBuilder text, final DirectBuffer buffer, final int offset) {
        int runStart = -1;
        int runLength = 1;
        for (int i = 0; i < IPV6_GROUPS; i++) {
            final int length = zeroGroups(buffer, offset, i);
            if (length > runLength) {
                runStart = i;
                runLength = length;
            }
        }
        for (int i = 0; i < IPV6_GROUPS; i++) {
            if (i == runStart) {
                text.append(i == 0 ? "::" : ":");
                i += runLength - 1;
            } else {
                text.append(Integer.toHexString(MessageLayout.unsignedShort(buffer, offset + i * Short.BYTES)));
                text.append(i == IPV6_GROUPS - 1 ? "" : ":");
            }
        }
    }

    private static int zeroGroups(final DirectBuffer buffer, final int offset, final int firstGroup) {
        int group = firstGroup;
        while (group < IPV6_GROUPS && MessageLayout.unsignedShort(buffer, offset + group * Short.BYTES) == 0) {
            group++;
        }
        return group - firstGroup;
    }

    /** Appends a MAC address of six octets, joined by colons. */
    public static void appendMac(final StringBuilder text, final DirectBuffer buffer, final int offset) {
        for (int i = 0; i < 6; i++) {
            if (i > 0) {
                text.append(':');
            }
            appendHex(text, buffer, offset + i, 1);
        }
    }

    /**
     * Appends octets in hexadecimal, two digits each.
     *
     * @param offset      of the first.
     * @param lengthBytes how many.
     */
    public static void appendHex(
        final StringBuilder text, final DirectBuffer buffer, final int offset, final int lengthBytes) {
        for (int i = offset; i < offset + lengthBytes; i++) {
            text.append(HEX.charAt(buffer.getByte(i) >> 4 & 0xF)).append(HEX.charAt(buffer.getByte(i) & 0xF));
        }
    }
}

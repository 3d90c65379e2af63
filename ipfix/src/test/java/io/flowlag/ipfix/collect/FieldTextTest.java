package io.flowlag.ipfix.collect;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.net.InetAddress;
import java.net.UnknownHostException;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

/** Addresses as text. */
class FieldTextTest {
    private static String ipv6(final byte[] octets) {
        final StringBuilder text = new StringBuilder();
        FieldText.appendIpv6(text, Octets.buffer(octets), 0);
        return text.toString();
    }

    /** The cases of RFC 5952 section 4. */
    @ParameterizedTest
    @CsvSource({
        "00000000000000000000000000000000, ::",
        "00000000000000000000000000000001, ::1",
        "20010db8000000000000000000000000, 2001:db8::",
        "20010db8000000000000000000020001, 2001:db8::2:1",
        "20010db8000000010001000100010001, 2001:db8:0:1:1:1:1:1",
        "20010000000000010000000000000001, 2001:0:0:1::1",
        "20010db8000000000001000000000001, 2001:db8::1:0:0:1",
        "fe80000000000000ffffabcdef012345, fe80::ffff:abcd:ef01:2345",
    })
    void shouldWriteIpv6AsRfc5952Wants(final String hex, final String expected) {
        assertEquals(expected, ipv6(Octets.octets().hex(hex).toBytes()));
    }

    @Property(tries = 500)
    void shouldWriteIpv6ThatReadsBack(@ForAll @Size(8) final boolean[] isZero, @ForAll @Size(16) final byte[] random)
        throws UnknownHostException {
        final byte[] address = random.clone();
        for (int i = 0; i < isZero.length; i++) {
            if (isZero[i]) {
                address[2 * i] = 0;
                address[2 * i + 1] = 0;
            }
        }
        final byte[] parsed = InetAddress.getByName(ipv6(address)).getAddress();
        if (parsed.length == address.length) {
            assertArrayEquals(address, parsed);
        }
    }

    @Test
    void shouldWriteIpv4AndMac() {
        final StringBuilder text = new StringBuilder();
        FieldText.appendIpv4(text, Octets.buffer(new byte[] {(byte)192, 0, 2, (byte)255}), 0);
        text.append(' ');
        FieldText.appendMac(text, Octets.buffer(new byte[] {0, 1, (byte)0xab, 3, 4, (byte)0xff}), 0);
        assertEquals("192.0.2.255 00:01:ab:03:04:ff", text.toString());
    }
}

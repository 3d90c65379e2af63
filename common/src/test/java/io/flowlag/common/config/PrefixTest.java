package io.flowlag.common.config;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class PrefixTest {
    @ParameterizedTest
    @CsvSource({"192.0.2.0/24, 24", "0.0.0.0/0, 0", "255.255.255.255, 32", "010.1.2.3/8, 8", "2001:db8::/32, 32", "::, 128"})
    void shouldReadAddresses(final String text, final int lengthBits) {
        assertEquals(lengthBits, Prefix.of(text).lengthBits());
    }

    /** Java takes it for the IPv4 address inside. */
    @Test
    void shouldTakeAnIpv4MappedAddressForOneOfIpv6() {
        final Prefix prefix = Prefix.of("::ffff:192.0.2.0/120");
        assertTrue(prefix.contains(true, 0, 0xFFFF_C000_0207L));
        assertFalse(prefix.contains(true, 0, 0xFFFF_C000_0307L));
        assertFalse(prefix.contains(false, 0, 0xC000_0207L));
    }

    /** Java takes such for the name of a host and asks a name server; the words are those that come before anybody is asked. */
    @ParameterizedTest
    @ValueSource(strings = {"300.1.1.1/24", "1.2.3.256", "1.2.3.1234", "1.2.3", "host.example", "1.2.3.4.5", "dead.beef"})
    void shouldNotTakeForTheNameOfAHost(final String text) {
        final String message = assertThrows(IllegalArgumentException.class, () -> Prefix.of(text)).getMessage();
        assertEquals("is no prefix: write an address and a length, as 192.0.2.0/24 or 2001:db8::/32", message);
    }
}

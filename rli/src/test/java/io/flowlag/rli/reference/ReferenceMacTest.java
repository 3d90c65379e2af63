package io.flowlag.rli.reference;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.HexFormat;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ReferenceMacTest {
    private static byte[] macOf(final byte[] key, final byte[] text) {
        final UnsafeBuffer out = new UnsafeBuffer(new byte[16]);
        new ReferenceMac(key).begin().update(new UnsafeBuffer(text), 0, text.length).write(out, 0);
        return out.byteArray();
    }

    @Property(tries = 300)
    void shouldAgreeWithThePlatformsMac(
        @ForAll @Size(min = 16, max = 150) final byte[] key, @ForAll @Size(max = 300) final byte[] text)
        throws GeneralSecurityException {
        final Mac platform = Mac.getInstance("HmacSHA256");
        platform.init(new SecretKeySpec(key, "HmacSHA256"));

        assertArrayEquals(Arrays.copyOf(platform.doFinal(text), 16), macOf(key, text));
    }

    @Test
    void shouldGiveTheResultsOfRfc4231() {
        final byte[] key1 = new byte[20];
        Arrays.fill(key1, (byte)0x0B);
        final byte[] key6 = new byte[131];
        Arrays.fill(key6, (byte)0xAA);

        assertEquals(
            "b0344c61d8db38535ca8afceaf0bf12b",
            HexFormat.of().formatHex(macOf(key1, "Hi There".getBytes(StandardCharsets.US_ASCII))));
        assertEquals(
            "60e431591ee0b67f0d8a26aacbf5b77f",
            HexFormat.of().formatHex(macOf(
                key6, "Test Using Larger Than Block-Size Key - Hash Key First".getBytes(StandardCharsets.US_ASCII))));
    }

    @Test
    void shouldSeeEachChangedBit() {
        final byte[] key = new byte[16];
        final UnsafeBuffer text = new UnsafeBuffer(new byte[96]);
        final UnsafeBuffer code = new UnsafeBuffer(new byte[16]);
        final ReferenceMac mac = new ReferenceMac(key);
        mac.begin().update(text, 0, 96).write(code, 0);
        assertTrue(mac.begin().update(text, 0, 96).matches(code, 0));

        for (int bit = 0; bit < 128; bit++) {
            code.putByte(bit / 8, (byte)(code.getByte(bit / 8) ^ 1 << bit % 8));
            assertFalse(mac.begin().update(text, 0, 96).matches(code, 0), "bit " + bit);
            code.putByte(bit / 8, (byte)(code.getByte(bit / 8) ^ 1 << bit % 8));
        }
    }

    @Test
    void shouldRefuseAShortKey() {
        assertThrows(IllegalArgumentException.class, () -> new ReferenceMac(new byte[15]));
    }
}

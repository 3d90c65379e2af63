package io.flowlag.exporter.exchange.wire;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What goes out is read by the other end alone, once, in order, and as it was. */
class MessageCipherTest {
    private static final byte[] RECEIVER_HELLO = new byte[56];
    private static final byte[] SENDER_HELLO = new byte[56];
    private static final SharedKey KEY = SharedKey.of(new byte[32]);

    private final MessageCipher sender = MessageCipher.of(KEY, false, RECEIVER_HELLO, SENDER_HELLO);
    private final MessageCipher receiver = MessageCipher.of(KEY, true, RECEIVER_HELLO, SENDER_HELLO);

    private static UnsafeBuffer message(final MessageType type, final byte[] body) {
        final UnsafeBuffer message =
            new UnsafeBuffer(new byte[ExchangeHeader.LENGTH_BYTES + body.length + ExchangeHeader.TRAILER_BYTES]);
        message.putBytes(ExchangeHeader.LENGTH_BYTES, body);
        ExchangeHeader.addTrailer(message, 0, ExchangeHeader.encode(message, 0, type, body.length));
        return message;
    }

    private static byte[] octets(final UnsafeBuffer message) {
        return message.byteArray().clone();
    }

    @Property(tries = 100)
    void shouldGiveBackWhatWasSealedAndNothingElse(
        @ForAll final long seed, @ForAll @IntRange(min = 1, max = 65_504) final int bodyBytes) {
        final SplittableRandom random = new SplittableRandom(seed);
        final byte[] body = new byte[bodyBytes];
        random.nextBytes(body);
        final UnsafeBuffer message = message(MessageType.FLOW_SUMS, body);
        final byte[] plain = octets(message);
        sender.seal(message, 0, message.capacity());
        final byte[] sealed = octets(message);
        assertArrayEquals(
            Arrays.copyOf(plain, ExchangeHeader.LENGTH_BYTES), Arrays.copyOf(sealed, ExchangeHeader.LENGTH_BYTES));
        final int at = random.nextInt(message.capacity());
        message.putByte(at, (byte)(message.getByte(at) ^ 1 << random.nextInt(8)));
        final byte[] changed = octets(message);
        assertFalse(receiver.open(message, 0, message.capacity()), "octet " + at + " was changed");
        assertArrayEquals(changed, octets(message), "what is not believed stays as it came");
        message.putBytes(0, sealed);
        assertFalse(sender.open(message, 0, message.capacity()), "sent back");
        assertTrue(receiver.open(message, 0, message.capacity()));
        final int endOfBody = ExchangeHeader.LENGTH_BYTES + bodyBytes;
        assertArrayEquals(Arrays.copyOf(plain, endOfBody), Arrays.copyOf(octets(message), endOfBody));
        message.putBytes(0, sealed);
        assertFalse(receiver.open(message, 0, message.capacity()), "repeated");
    }

    /** Two messages of the same content differ, in either direction, and neither shows an address. */
    @Example
    void shouldHideFlowKeys() {
        final byte[] body = "192.0.2.1 port 443".getBytes(StandardCharsets.US_ASCII);
        final String[] seen = new String[4];
        for (int i = 0; i < seen.length; i++) {
            final UnsafeBuffer message = message(MessageType.WITNESS, body);
            (i % 2 == 0 ? sender : receiver).seal(message, 0, message.capacity());
            seen[i] = new String(octets(message), StandardCharsets.ISO_8859_1).substring(ExchangeHeader.LENGTH_BYTES);
            assertFalse(seen[i].contains("192.0.2"), seen[i]);
        }
        assertEquals(seen.length, Arrays.stream(seen).distinct().count());
    }

    @Example
    void shouldLeaveAHelloReadableAndNeedTheKey() {
        final byte[] body = new byte[40];
        body[0] = 1;
        final UnsafeBuffer hello = message(MessageType.HELLO, body);
        final byte[] plain = octets(hello);
        sender.seal(hello, 0, hello.capacity());
        final int endOfBody = ExchangeHeader.LENGTH_BYTES + body.length;
        assertArrayEquals(Arrays.copyOf(plain, endOfBody), Arrays.copyOf(octets(hello), endOfBody));
        assertNotEquals(0, hello.getLong(endOfBody));
        final byte[] other = new byte[32];
        other[31] = 1;
        assertFalse(MessageCipher.of(SharedKey.of(other), true, RECEIVER_HELLO, SENDER_HELLO).open(hello, 0, hello.capacity()));
        final byte[] otherHello = SENDER_HELLO.clone();
        otherHello[55] = 1;
        assertFalse(MessageCipher.of(KEY, true, RECEIVER_HELLO, otherHello).open(hello, 0, hello.capacity()));
        assertTrue(receiver.open(hello, 0, hello.capacity()));
        assertEquals(1, receiver.opened());
    }
}

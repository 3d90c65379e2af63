package io.flowlag.exporter.exchange.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;

/**
 * Authenticates the messages of one session of version 4 with HMAC-SHA-256 (RFC 2104), cut to 16 octets. The session's key is
 * derived from the shared key and both HELLOs, nonces included, so it differs per session. Each direction has its own key, and
 * each message its number, so that none can be changed, omitted, repeated or reflected. One thread; allocates per message (inside
 * the JDK).
 */
public final class MessageAuthenticator implements MessageSeal {
    private static final String ALGORITHM = "HmacSHA256";
    private static final String CONTEXT = "flowlag exchange 1";

    private final Mac sealing;
    private final Mac opening;
    private final Mac masking;
    private final byte[] numberOctets = new byte[Long.BYTES];
    private final UnsafeBuffer number = new UnsafeBuffer(numberOctets);
    private byte[] scratch = new byte[1024];
    private long sealed;
    private long opened;

    private MessageAuthenticator(final Mac sealing, final Mac opening, final Mac masking) {
        this.sealing = sealing;
        this.opening = opening;
        this.masking = masking;
    }

    /** An authenticator for a session, as {@link MessageSeal#of}. */
    public static MessageAuthenticator of(
        final SharedKey key, final boolean isReceiver, final byte[] receiverHello, final byte[] senderHello) {
        final byte[] session = sessionKey(key, CONTEXT, receiverHello, senderHello);
        final Mac sender = mac(derived(session, "sender"));
        final Mac receiver = mac(derived(session, "receiver"));
        final Mac masking = mac(derived(session, "secrets"));
        return new MessageAuthenticator(isReceiver ? receiver : sender, isReceiver ? sender : receiver, masking);
    }

    /** The session's key, from which the keys of its directions are derived. */
    static byte[] sessionKey(
        final SharedKey key, final String context, final byte[] receiverHello, final byte[] senderHello) {
        final Mac shared = mac(key.octets());
        shared.update(context.getBytes(StandardCharsets.US_ASCII));
        shared.update(receiverHello);
        return shared.doFinal(senderHello);
    }

    /** A key for one purpose. */
    static byte[] derived(final byte[] key, final String purpose) {
        return mac(key).doFinal(purpose.getBytes(StandardCharsets.US_ASCII));
    }

    private static Mac mac(final byte[] key) {
        try {
            final Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(key, ALGORITHM));
            return mac;
        } catch (final GeneralSecurityException ex) {
            throw new IllegalStateException("every JDK has " + ALGORITHM, ex);
        }
    }

    @Override
    public void seal(final MutableDirectBuffer buffer, final int offset, final int lengthBytes) {
        final byte[] code = code(sealing, sealed++, buffer, offset, lengthBytes - ExchangeHeader.TRAILER_BYTES);
        buffer.putBytes(offset + lengthBytes - ExchangeHeader.TRAILER_BYTES, code, 0, ExchangeHeader.TRAILER_BYTES);
    }

    @Override
    public boolean open(final MutableDirectBuffer buffer, final int offset, final int lengthBytes) {
        if (!ExchangeHeader.isAuthenticated(buffer, offset)) {
            return false;
        }
        final byte[] code = code(opening, opened, buffer, offset, lengthBytes - ExchangeHeader.TRAILER_BYTES);
        final byte[] expected = new byte[ExchangeHeader.TRAILER_BYTES];
        final byte[] found = new byte[ExchangeHeader.TRAILER_BYTES];
        System.arraycopy(code, 0, expected, 0, expected.length);
        buffer.getBytes(offset + lengthBytes - ExchangeHeader.TRAILER_BYTES, found);
        if (!MessageDigest.isEqual(expected, found)) {
            return false;
        }
        opened++;
        return true;
    }

    @Override
    public long opened() {
        return opened;
    }

    @Override
    public boolean isEncrypting() {
        return false;
    }

    @Override
    public void hideSecrets(final MutableDirectBuffer settings, final int offset) {
        number.putLong(0, sealed, ExchangeHeader.BYTE_ORDER);
        SettingsMessage.applyMask(settings, offset, masking.doFinal(numberOctets));
    }

    private byte[] code(
        final Mac mac, final long messageNumber, final DirectBuffer buffer, final int offset, final int lengthBytes) {
        if (scratch.length < lengthBytes) {
            scratch = new byte[ExchangeHeader.MAX_MESSAGE_BYTES];
        }
        buffer.getBytes(offset, scratch, 0, lengthBytes);
        number.putLong(0, messageNumber, ExchangeHeader.BYTE_ORDER);
        mac.update(numberOctets);
        mac.update(scratch, 0, lengthBytes);
        return mac.doFinal();
    }
}

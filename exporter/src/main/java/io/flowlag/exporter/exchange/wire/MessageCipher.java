package io.flowlag.exporter.exchange.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import java.security.GeneralSecurityException;

/**
 * Encrypts the messages of one session with AES-256-GCM (NIST SP 800-38D). Each direction has its own key, derived from the
 * shared key and both HELLOs; the nonces are the message numbers. The header and the whole HELLO stay readable, but
 * authenticated. One thread; allocates per message (inside the JDK).
 */
public final class MessageCipher implements MessageSeal {
    private static final String ALGORITHM = "AES";
    private static final String TRANSFORMATION = "AES/GCM/NoPadding";
    private static final String CONTEXT = "flowlag exchange 5";
    private static final int NONCE_BYTES = 12;
    private static final int NUMBER_OFFSET = 4;

    private final Direction sealing;
    private final Direction opening;

    /** The key of one direction, and the number of its next message. */
    private static final class Direction {
        private final int role;
        private final SecretKeySpec key;
        private final Cipher cipher = newCipher();
        private final byte[] nonce = new byte[NONCE_BYTES];
        private final UnsafeBuffer nonceView = new UnsafeBuffer(nonce);
        private byte[] input = new byte[1024];
        private byte[] output = new byte[1024];
        private long number;

        Direction(final int role, final byte[] key) {
            this.role = role;
            this.key = new SecretKeySpec(key, ALGORITHM);
        }

        private static Cipher newCipher() {
            try {
                return Cipher.getInstance(TRANSFORMATION);
            } catch (final GeneralSecurityException ex) {
                throw new IllegalStateException("every JDK has " + TRANSFORMATION, ex);
            }
        }

        /** Encrypts or decrypts the next message into the output, and returns the octets written. */
        int apply(final int mode, final DirectBuffer buffer, final int offset, final int lengthBytes)
            throws GeneralSecurityException {
            if (input.length < lengthBytes) {
                input = new byte[ExchangeHeader.MAX_MESSAGE_BYTES];
                output = new byte[ExchangeHeader.MAX_MESSAGE_BYTES];
            }
            buffer.getBytes(offset, input, 0, lengthBytes);
            nonceView.putInt(0, role, ExchangeHeader.BYTE_ORDER);
            nonceView.putLong(NUMBER_OFFSET, number, ExchangeHeader.BYTE_ORDER);
            cipher.init(mode, key, new GCMParameterSpec(Byte.SIZE * ExchangeHeader.TRAILER_BYTES, nonce));
            final int plainBytes = plainBytes(buffer, offset);
            cipher.updateAAD(input, 0, plainBytes);
            final int textBytes = mode == Cipher.ENCRYPT_MODE ?
                lengthBytes - ExchangeHeader.TRAILER_BYTES - plainBytes : lengthBytes - plainBytes;
            final int producedBytes = cipher.doFinal(input, plainBytes, textBytes, output, 0);
            number++;
            return producedBytes;
        }
    }

    private MessageCipher(final Direction sealing, final Direction opening) {
        this.sealing = sealing;
        this.opening = opening;
    }

    /** A cipher for a session, as {@link MessageSeal#of}. */
    public static MessageCipher of(
        final SharedKey key, final boolean isReceiver, final byte[] receiverHello, final byte[] senderHello) {
        final byte[] session = MessageAuthenticator.sessionKey(key, CONTEXT, receiverHello, senderHello);
        final Direction sender = new Direction(HelloMessage.SENDER, MessageAuthenticator.derived(session, "sender"));
        final Direction receiver = new Direction(HelloMessage.RECEIVER, MessageAuthenticator.derived(session, "receiver"));
        return new MessageCipher(isReceiver ? receiver : sender, isReceiver ? sender : receiver);
    }

    /** How many octets of a message are not encrypted. */
    private static int plainBytes(final DirectBuffer buffer, final int offset) {
        return ExchangeHeader.LENGTH_BYTES +
            (ExchangeHeader.type(buffer, offset) == MessageType.HELLO ? ExchangeHeader.bodyBytes(buffer, offset) : 0);
    }

    @Override
    public void seal(final MutableDirectBuffer buffer, final int offset, final int lengthBytes) {
        try {
            final int producedBytes = sealing.apply(Cipher.ENCRYPT_MODE, buffer, offset, lengthBytes);
            buffer.putBytes(offset + lengthBytes - producedBytes, sealing.output, 0, producedBytes);
        } catch (final GeneralSecurityException ex) {
            throw new IllegalStateException("cannot encrypt", ex);
        }
    }

    @Override
    public boolean open(final MutableDirectBuffer buffer, final int offset, final int lengthBytes) {
        if (!ExchangeHeader.isAuthenticated(buffer, offset)) {
            return false;
        }
        try {
            final int producedBytes = opening.apply(Cipher.DECRYPT_MODE, buffer, offset, lengthBytes);
            buffer.putBytes(
                offset + lengthBytes - ExchangeHeader.TRAILER_BYTES - producedBytes, opening.output, 0, producedBytes);
            return true;
        } catch (final AEADBadTagException ex) {
            return false;
        } catch (final GeneralSecurityException ex) {
            throw new IllegalStateException("cannot decrypt", ex);
        }
    }

    @Override
    public long opened() {
        return opening.number;
    }

    @Override
    public boolean isEncrypting() {
        return true;
    }

    @Override
    public void hideSecrets(final MutableDirectBuffer settings, final int offset) {
        // the whole body is encrypted
    }
}

package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.ExchangeHeader;
import io.flowlag.exporter.exchange.wire.ExchangeResult;
import io.flowlag.exporter.exchange.wire.HelloMessage;
import io.flowlag.exporter.exchange.wire.MessageCipher;
import io.flowlag.exporter.exchange.wire.MessageSeal;
import io.flowlag.exporter.exchange.wire.SharedKey;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.security.SecureRandom;
import java.util.function.Supplier;

/** The HELLOs of an end, and the seal that follows from them if there is a key. One thread; allocates per connection. */
class Handshake {
    private final SecureRandom random = new SecureRandom();
    private final long instance;
    private final int role;
    private final long pointId;
    private final boolean isKeyed;

    private Handshake(final int role, final PointRun point, final boolean isKeyed) {
        this.role = role;
        pointId = point.pointId();
        instance = point.instance();
        this.isKeyed = isKeyed;
    }

    /** The handshakes of a run of the process, in a role as in HELLO. */
    static Handshake of(final int role, final PointRun point, final Supplier<PeerSecurity> security) {
        return security.get().keys().isEmpty() ? new Handshake(role, point, false) : new Keyed(role, point, security);
    }

    /** {@return this run's random number} */
    long instance() {
        return instance;
    }

    /** Writes a HELLO with a nonce of its own. Returns its octets. */
    int hello(final MutableDirectBuffer buffer) {
        final byte[] nonce = new byte[HelloMessage.NONCE_BYTES];
        random.nextBytes(nonce);
        return HelloMessage.encode(buffer, role, isKeyed, pointId, instance, nonce);
    }

    /** Refuses the other end's HELLO if it has this end's role, or if only one end has a key. Returns accepted, or why not. */
    ExchangeResult check(final ExchangeConnection connection, final HelloMessage hello) {
        if (hello.role() == role) {
            final String name = role == HelloMessage.SENDER ? "sender" : "receiver";
            connection.refuse(ExchangeResult.UNEXPECTED, connection.difference("role", name, name));
            return ExchangeResult.UNEXPECTED;
        }
        if (hello.isKeyed() != isKeyed) {
            connection.refuse(ExchangeResult.AUTHENTICATION,
                connection.difference("shared key", hello.isKeyed() ? "yes" : "no", isKeyed ? "yes" : "no"));
            return ExchangeResult.AUTHENTICATION;
        }
        return ExchangeResult.ACCEPTED;
    }

    /** A sender's answer to the receiver's HELLO. */
    void answer(
        final ExchangeConnection connection, final DirectBuffer hello, final int offset, final MutableDirectBuffer scratch) {
        connection.send(scratch, hello(scratch));
    }

    /** Whether a sender's answer to the receiver's HELLO is made with the key, if there is one. */
    boolean isAuthentic(
        final ExchangeConnection connection, final byte[] receiverHello, final DirectBuffer hello, final int offset) {
        return true;
    }

    static byte[] octets(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        final byte[] octets = new byte[lengthBytes];
        buffer.getBytes(offset, octets);
        return octets;
    }

    /** With the keys of both ends: this one's current one as a sender, any of them as a receiver. */
    private static final class Keyed extends Handshake {
        private final Supplier<PeerSecurity> security;

        private Keyed(final int role, final PointRun point, final Supplier<PeerSecurity> security) {
            super(role, point, true);
            this.security = security;
        }

        @Override
        void answer(
            final ExchangeConnection connection, final DirectBuffer hello, final int offset, final MutableDirectBuffer scratch) {
            final int helloBytes = hello(scratch);
            ExchangeHeader.addTrailer(scratch, 0, helloBytes);
            final SharedKey key = security.get().keys().get(0);
            connection.authenticate(key, MessageCipher.of(
                key, false, octets(hello, offset, ExchangeHeader.lengthBytes(hello, offset)), octets(scratch, 0, helloBytes)));
            connection.send(scratch, helloBytes);
        }

        @Override
        boolean isAuthentic(
            final ExchangeConnection connection, final byte[] receiverHello, final DirectBuffer hello, final int offset) {
            if (!ExchangeHeader.isAuthenticated(hello, offset)) {
                return false;
            }
            final int lengthBytes = ExchangeHeader.lengthBytes(hello, offset);
            final byte[] bareHello = octets(hello, offset, lengthBytes - ExchangeHeader.TRAILER_BYTES);
            for (final SharedKey key : security.get().keys()) {
                final MessageSeal seal = MessageSeal.of(connection.version(), key, true, receiverHello, bareHello);
                if (seal.open(new UnsafeBuffer(octets(hello, offset, lengthBytes)), 0, lengthBytes)) {
                    connection.authenticate(key, seal);
                    return true;
                }
            }
            return false;
        }
    }
}

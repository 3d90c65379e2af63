package io.flowlag.exporter.simulation;

import io.flowlag.exporter.exchange.link.MemoryNetwork;
import io.flowlag.exporter.exchange.wire.ExchangeHeader;
import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import io.flowlag.exporter.exchange.wire.HelloMessage;
import io.flowlag.exporter.exchange.wire.IntervalBeginMessage;
import io.flowlag.exporter.exchange.wire.IntervalListMessage;
import io.flowlag.exporter.exchange.wire.MessageType;
import io.flowlag.exporter.exchange.wire.SettingsMessage;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.util.SplittableRandom;

/** A peer that claims to be the sender, announces long lists and sends as much of them as is taken. No interval becomes whole. */
final class Liar {
    private static final int PIECE_DIGESTS = 4096;
    /** The longest list has 2 to the power of so many digests. */
    private static final int MOST_BITS = 20;
    private static final UnsafeBuffer DIGESTS = new UnsafeBuffer(new byte[Long.BYTES << MOST_BITS]);
    private static final int POINT = 1;

    private final ByteChannel channel;
    private final SplittableRandom random;
    private final ByteBuffer received = ByteBuffer.allocate(4 * ExchangeHeader.MAX_MESSAGE_BYTES);
    private final UnsafeBuffer message = new UnsafeBuffer(new byte[ExchangeHeader.MAX_MESSAGE_BYTES]);
    private ByteBuffer unsent = ByteBuffer.allocate(0);
    private SettingsMessage settings;
    private long number;
    private int listed;
    private int announced;

    Liar(final MemoryNetwork network, final int port, final SplittableRandom random) throws IOException {
        this.random = random;
        channel = network.channel("10.9.9.9", port);
        send(HelloMessage.encode(
            message, HelloMessage.SENDER, false, POINT, random.nextLong(), new byte[HelloMessage.NONCE_BYTES]));
    }

    private void send(final int lengthBytes) {
        unsent = ByteBuffer.wrap(message.byteArray().clone(), 0, lengthBytes);
    }

    /** Lies on. Returns whether the receiver still listens. */
    boolean work() {
        try {
            if (channel.read(received) < 0) {
                return false;
            }
            while (!unsent.hasRemaining() || channel.write(unsent) > 0) {
                if (!unsent.hasRemaining() && !next()) {
                    return true;
                }
            }
            return true;
        } catch (final IOException ex) {
            return false;
        }
    }

    /** Writes the next message, once the settings have come. */
    private boolean next() {
        if (settings == null && !findSettings()) {
            return false;
        }
        if (listed >= announced || random.nextInt(256) == 0) {
            announce();
        } else {
            final int count = Math.min(PIECE_DIGESTS, announced - listed);
            final UnsafeBuffer digests = new UnsafeBuffer(DIGESTS, 0, (listed + count) * Long.BYTES);
            send(IntervalListMessage.encode(message, 0, MessageType.IN_FLIGHT, number, digests, listed));
            listed += count;
        }
        return true;
    }

    private void announce() {
        final ExchangeSettings held = settings.settings();
        number = Math.max(number + 1, held.fromInterval() + 1);
        announced = 1 << random.nextInt(MOST_BITS + 1);
        listed = 0;
        final int lengthBytes = IntervalBeginMessage.encode(message, number, held, settings.receiverInstance());
        IntervalBeginMessage.count(message, MessageType.IN_FLIGHT, announced);
        send(lengthBytes);
    }

    private boolean findSettings() {
        final UnsafeBuffer octets = new UnsafeBuffer(received);
        int offset = 0;
        while (offset + ExchangeHeader.LENGTH_BYTES <= received.position()) {
            final int lengthBytes = ExchangeHeader.lengthBytes(octets, offset);
            if (offset + lengthBytes > received.position()) {
                return false;
            }
            if (ExchangeHeader.type(octets, offset) == MessageType.SETTINGS) {
                settings = new SettingsMessage().wrap(octets, offset);
                return true;
            }
            offset += lengthBytes;
        }
        return false;
    }
}

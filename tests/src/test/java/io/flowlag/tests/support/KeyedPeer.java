package io.flowlag.tests.support;

import io.flowlag.exporter.exchange.wire.ExchangeHeader;
import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import io.flowlag.exporter.exchange.wire.HelloMessage;
import io.flowlag.exporter.exchange.wire.MessageCipher;
import io.flowlag.exporter.exchange.wire.MessageType;
import io.flowlag.exporter.exchange.wire.SettingsAckMessage;
import io.flowlag.exporter.exchange.wire.SettingsMessage;
import io.flowlag.exporter.exchange.wire.SharedKey;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.ToIntFunction;

/**
 * A sender's end of the exchange that has the shared key, and says whatever a test wants. It blocks; one thread. Nothing is read
 * but what {@link #readSettings} waits for.
 */
public final class KeyedPeer implements AutoCloseable {
    private static final int TIMEOUT_MS = 5_000;

    private final Socket socket = new Socket();
    private final DataInputStream input;
    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[ExchangeHeader.MAX_MESSAGE_BYTES]);
    private final MessageCipher cipher;
    private ExchangeSettings settings;
    private long receiverInstance;

    /**
     * Connects, and exchanges HELLOs.
     *
     * @param receiver      its port.
     * @param receiveBuffer octets; 0 for the system's.
     * @param key           shared key, or another one.
     * @param pointId       of the HELLO.
     * @param random        gives the run of the process and the nonce.
     */
    public KeyedPeer(
        final InetSocketAddress receiver, final int receiveBuffer, final SharedKey key, final long pointId,
        final SplittableRandom random) throws IOException {
        if (receiveBuffer > 0) {
            socket.setReceiveBufferSize(receiveBuffer);
        }
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(TIMEOUT_MS);
        try {
            socket.connect(receiver, TIMEOUT_MS);
            input = new DataInputStream(socket.getInputStream());
            final byte[] receiverHello = read();
            final byte[] nonce = new byte[HelloMessage.NONCE_BYTES];
            random.nextBytes(nonce);
            final int bareBytes =
                HelloMessage.encode(buffer, HelloMessage.SENDER, true, pointId, random.nextLong(), nonce);
            final int helloBytes = ExchangeHeader.addTrailer(buffer, 0, bareBytes);
            cipher = MessageCipher.of(key, false, receiverHello, Arrays.copyOf(buffer.byteArray(), bareBytes));
            cipher.seal(buffer, 0, helloBytes);
            socket.getOutputStream().write(buffer.byteArray(), 0, helloBytes);
        } catch (final IOException ex) {
            socket.close();
            throw ex;
        }
    }

    private byte[] read() throws IOException {
        final byte[] header = new byte[ExchangeHeader.LENGTH_BYTES];
        input.readFully(header);
        final int lengthBytes = ExchangeHeader.lengthBytes(new UnsafeBuffer(header), 0);
        final byte[] message = Arrays.copyOf(header, lengthBytes);
        input.readFully(message, header.length, lengthBytes - header.length);
        return message;
    }

    /**
     * Waits for the settings, and says that they hold.
     *
     * @return those that came last.
     * @throws IOException if the receiver refuses.
     */
    public ExchangeSettings readSettings() throws IOException {
        do {
            final byte[] message = read();
            final UnsafeBuffer opened = new UnsafeBuffer(message);
            if (!cipher.open(opened, 0, message.length) || ExchangeHeader.type(opened, 0) != MessageType.SETTINGS) {
                throw new IOException("no settings");
            }
            final SettingsMessage come = new SettingsMessage().wrap(opened, 0);
            settings = come.settings();
            receiverInstance = come.receiverInstance();
            send((to) -> SettingsAckMessage.encode(to, 0, settings.number(), receiverInstance, settings.fromInterval()));
        } while (input.available() > 0);
        return settings;
    }

    /** {@return the receiver's run, as in the settings} */
    public long receiverInstance() {
        return receiverInstance;
    }

    /**
     * Sends a message.
     *
     * @param encoder writes it at the buffer's begin, without a trailer, and returns its octets.
     */
    public void send(final ToIntFunction<MutableDirectBuffer> encoder) throws IOException {
        final int lengthBytes = seal(encoder);
        socket.getOutputStream().write(buffer.byteArray(), 0, lengthBytes);
    }

    /**
     * Sends a message, each octet on its own.
     *
     * @param encoder as {@link #send} has it.
     */
    public void sendOctets(final ToIntFunction<MutableDirectBuffer> encoder) throws IOException {
        final int lengthBytes = seal(encoder);
        for (int i = 0; i < lengthBytes; i++) {
            socket.getOutputStream().write(buffer.byteArray(), i, 1);
        }
    }

    private int seal(final ToIntFunction<MutableDirectBuffer> encoder) {
        final int lengthBytes = ExchangeHeader.addTrailer(buffer, 0, encoder.applyAsInt(buffer));
        cipher.seal(buffer, 0, lengthBytes);
        return lengthBytes;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}

package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.ExchangeHeader;
import io.flowlag.exporter.exchange.wire.ExchangeResult;
import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import io.flowlag.exporter.exchange.wire.ExchangeVerifier;
import io.flowlag.exporter.exchange.wire.MessageType;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.function.Function;

/**
 * A sender's intervals in a file: the messages of the exchange, one after another. They are verified and assembled as those from
 * the network. One thread uses an instance. Allocates at construction, and the assembler's memory.
 */
public final class StoredIntervals implements AutoCloseable {
    /** Version of the messages; others are refused. */
    public static final int VERSION = ExchangeHeader.VERSION;

    private static final long MAX_LIST_BYTES = 1L << 30;

    private final UnsafeBuffer message = new UnsafeBuffer(new byte[ExchangeHeader.MAX_MESSAGE_BYTES]);
    private final ByteBuffer octets = ByteBuffer.allocateDirect(8 * ExchangeHeader.MAX_MESSAGE_BYTES).flip();
    private final FileChannel channel;
    private final IntervalAssembler assembler;

    /**
     * Opens a file.
     *
     * @param held  settings that hold in all of them.
     * @param rooms makes room for an interval.
     * @throws IOException if it cannot be opened.
     */
    public StoredIntervals(
        final Path file, final HeldSettings held, final Function<ExchangeSettings, ReceivedInterval> rooms) throws IOException {
        channel = FileChannel.open(file);
        final SettingsSchedule schedule = new SettingsSchedule();
        schedule.add(held);
        assembler = new IntervalAssembler(schedule, MAX_LIST_BYTES, rooms);
    }

    /**
     * Stores an interval.
     *
     * @throws IOException if they cannot be written.
     */
    public static void store(final EncodedInterval interval, final WritableByteChannel channel) throws IOException {
        final ByteBuffer messages = ByteBuffer.wrap(interval.messages().byteArray());
        while (messages.hasRemaining()) {
            channel.write(messages);
        }
    }

    /**
     * The next interval.
     *
     * @return it, whole and verified, until the next call if it is not exchanged for another by {@link #reuse}; null behind the
     *         last one.
     * @throws IOException if the file cannot be read, or what is in it would end a connection or spoil the interval.
     */
    public ReceivedInterval next() throws IOException {
        while (has(ExchangeHeader.LENGTH_BYTES)) {
            final UnsafeBuffer header = new UnsafeBuffer(octets, octets.position(), ExchangeHeader.LENGTH_BYTES);
            accept(ExchangeVerifier.verifyHeader(header, 0, header.capacity(), ExchangeHeader.MAX_MESSAGE_BYTES));
            final int lengthBytes = ExchangeHeader.lengthBytes(header, 0);
            if (!has(lengthBytes)) {
                accept(ExchangeResult.TOO_SHORT);
            }
            octets.get(message.byteArray(), 0, lengthBytes);
            accept(ExchangeVerifier.verify(message, 0, lengthBytes));
            if (take(ExchangeHeader.type(message, 0))) {
                return assembler.interval();
            }
        }
        if (octets.hasRemaining() || assembler.isOpen()) {
            accept(ExchangeResult.TOO_SHORT);
        }
        return null;
    }

    /** Fills another interval from now on. */
    public void reuse(final ReceivedInterval room) {
        assembler.reuse(room);
    }

    /** A verified message; true if it ends an interval. */
    private boolean take(final MessageType type) throws IOException {
        switch (type) {
            case INTERVAL_BEGIN -> assembler.begin(message, 0);
            case INTERVAL_END -> {
                accept(assembler.end(message, 0));
                if (assembler.spoiled() != null) {
                    throw new IOException(assembler.spoiledText());
                }
                return true;
            }
            default -> accept(assembler.add(type, message, 0));
        }
        return false;
    }

    private static void accept(final ExchangeResult result) throws IOException {
        if (result != ExchangeResult.ACCEPTED) {
            throw new IOException("a message of the exchange: " + result);
        }
    }

    private boolean has(final int lengthBytes) throws IOException {
        while (octets.remaining() < lengthBytes) {
            octets.compact();
            final int count = channel.read(octets);
            octets.flip();
            if (count < 0) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}

package io.flowlag.ipfix.collect;

import io.flowlag.ipfix.message.MessageHeader;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;

import static io.flowlag.ipfix.collect.MessageLayout.FRAMING_LENGTH_BYTES;

/**
 * Reads the messages of a file (RFC 5655) or another stream, one a call. A truncated or corrupt file yields everything before the
 * defect, which {@link #damage()} then describes; a message that is only refused is skipped. One thread owns it; allocates at
 * construction.
 */
public final class MessageStreamReader implements AutoCloseable {
    private final CollectingProcess process;
    private final InputStream in;
    private final TransportSession session;
    private final byte[] octets = new byte[MessageHeader.MAX_MESSAGE_BYTES];
    private final UnsafeBuffer buffer = new UnsafeBuffer(octets);
    private long positionBytes;
    private String damage;
    private boolean isForeign;
    private boolean isEnded;
    private boolean isClosed;

    /**
     * A reader at the beginning of a stream.
     *
     * @param in   to read; better buffered; closed by {@link #close}.
     * @param name of the file, for messages.
     */
    public MessageStreamReader(final CollectingProcess process, final InputStream in, final String name) {
        this.process = process;
        this.in = in;
        this.session = process.openSession(SessionKind.FILE, name);
    }

    /** Reads one message and hands it to the process. Returns false if there is no further one. */
    public boolean readMessage(final long nowNs) {
        if (isEnded) {
            return false;
        }
        try {
            isEnded = !tryReadMessage(nowNs);
        } catch (final IOException ex) {
            isEnded = true;
            note(ex instanceof EOFException ? "is cut behind octet " + positionBytes :
                "cannot be read beyond octet " + positionBytes + ": " + ex.getMessage());
        }
        return !isEnded;
    }

    private boolean tryReadMessage(final long nowNs) throws IOException {
        final int framingLengthBytes = in.readNBytes(octets, 0, FRAMING_LENGTH_BYTES);
        if (framingLengthBytes == 0) {
            return false;
        }
        if (framingLengthBytes < FRAMING_LENGTH_BYTES) {
            note("is cut inside the message header at octet " + positionBytes);
            return false;
        }
        final int messageLengthBytes = MessageHeader.messageLengthBytes(buffer, 0);
        if (MessageHeader.version(buffer, 0) != MessageHeader.VERSION || messageLengthBytes < MessageHeader.LENGTH_BYTES) {
            isForeign = positionBytes == 0;
            note("has no IPFIX message at octet " + positionBytes);
            return false;
        }
        final int missingBytes = messageLengthBytes - FRAMING_LENGTH_BYTES;
        if (in.readNBytes(octets, FRAMING_LENGTH_BYTES, missingBytes) < missingBytes) {
            note("is cut inside the message of " + messageLengthBytes + " octets at octet " + positionBytes);
            return false;
        }
        final MessageResult result = process.onMessage(session, buffer, 0, messageLengthBytes, nowNs);
        if (!result.isAccepted()) {
            note("has a malformed message at octet " + positionBytes + " (" + result.counter().label() + ")");
        }
        positionBytes += messageLengthBytes;
        return true;
    }

    /** {@return the first defect of the file, as a phrase to follow its name, or null} */
    public String damage() {
        return damage;
    }

    /** {@return whether the stream does not even begin like IPFIX} */
    public boolean isForeign() {
        return isForeign;
    }

    /** {@return octets of whole messages read so far} */
    public long positionBytes() {
        return positionBytes;
    }

    private void note(final String what) {
        if (damage == null) {
            damage = what;
        }
    }

    @Override
    public void close() throws IOException {
        if (!isClosed) {
            isClosed = true;
            isEnded = true;
            process.closeSession(session);
            in.close();
        }
    }
}

package io.flowlag.ipfix.collect;

import io.flowlag.ipfix.message.MessageHeader;
import org.agrona.DirectBuffer;
import org.agrona.ExpandableArrayBuffer;

import static io.flowlag.ipfix.collect.MessageLayout.FRAMING_LENGTH_BYTES;

/**
 * Cuts a stream of octets into messages by the length in their headers (RFC 7011 section 10.4.3). Whole messages are passed on in
 * place; only the remainder is copied, at most one message. Not thread-safe; allocates when a remainder is longer than any
 * before, up to about 64 KiB.
 */
final class MessageAssembler {
    private final ExpandableArrayBuffer partial = new ExpandableArrayBuffer(128);
    private int partialLengthBytes;

    /** Takes a message. */
    @FunctionalInterface
    interface Sink {
        void onMessage(DirectBuffer buffer, int offset, int lengthBytes);
    }

    /** Takes octets. Returns false if they are not IPFIX; the start of the next message is then unknown. */
    boolean onOctets(final DirectBuffer buffer, final int offset, final int lengthBytes, final Sink sink) {
        final int limit = offset + lengthBytes;
        int position = offset;
        while (position < limit) {
            if (partialLengthBytes > 0 || limit - position < FRAMING_LENGTH_BYTES) {
                position = complete(buffer, position, limit, sink);
            } else {
                position = take(buffer, position, limit, sink);
            }
            if (position < 0) {
                return false;
            }
        }
        return true;
    }

    /** Whether a message has begun and not ended. */
    boolean isInsideMessage() {
        return partialLengthBytes > 0;
    }

    private int take(final DirectBuffer buffer, final int position, final int limit, final Sink sink) {
        if (!isFramed(buffer, position)) {
            return -1;
        }
        final int messageLengthBytes = MessageHeader.messageLengthBytes(buffer, position);
        if (messageLengthBytes > limit - position) {
            return keep(buffer, position, limit - position);
        }
        sink.onMessage(buffer, position, messageLengthBytes);
        return position + messageLengthBytes;
    }

    private int complete(final DirectBuffer buffer, final int start, final int limit, final Sink sink) {
        int position = start;
        if (partialLengthBytes < FRAMING_LENGTH_BYTES) {
            position = keep(buffer, position, Math.min(FRAMING_LENGTH_BYTES - partialLengthBytes, limit - position));
            if (partialLengthBytes < FRAMING_LENGTH_BYTES) {
                return position;
            }
            if (!isFramed(partial, 0)) {
                return -1;
            }
        }
        final int messageLengthBytes = MessageHeader.messageLengthBytes(partial, 0);
        position = keep(buffer, position, Math.min(messageLengthBytes - partialLengthBytes, limit - position));
        if (partialLengthBytes == messageLengthBytes) {
            partialLengthBytes = 0;
            sink.onMessage(partial, 0, messageLengthBytes);
        }
        return position;
    }

    private int keep(final DirectBuffer buffer, final int position, final int lengthBytes) {
        partial.putBytes(partialLengthBytes, buffer, position, lengthBytes);
        partialLengthBytes += lengthBytes;
        return position + lengthBytes;
    }

    private static boolean isFramed(final DirectBuffer buffer, final int offset) {
        return MessageHeader.version(buffer, offset) == MessageHeader.VERSION &&
            MessageHeader.messageLengthBytes(buffer, offset) >= MessageHeader.LENGTH_BYTES;
    }
}

package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.ExchangeHeader;
import io.flowlag.exporter.exchange.wire.ExchangeResult;
import io.flowlag.exporter.exchange.wire.ExchangeVerifier;
import io.flowlag.exporter.exchange.wire.HelloMessage;
import io.flowlag.exporter.exchange.wire.MessageSeal;
import io.flowlag.exporter.exchange.wire.MessageType;
import io.flowlag.exporter.exchange.wire.PingMessage;
import io.flowlag.exporter.exchange.wire.RefusedMessage;
import io.flowlag.exporter.exchange.wire.SharedKey;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.EpochNanoClock;
import org.agrona.concurrent.UnsafeBuffer;

import javax.net.ssl.SSLException;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * One connection, the same at both ends. It splits the stream into messages, verifies and authenticates each once, and passes it
 * to the handler. It sends as much as the other end reads. It ends after a timeout or a refusal. Memory is bounded: small before
 * the session begins, larger in it. One thread; allocates at construction and when the session begins.
 */
final class ExchangeConnection {
    /** Receives verified messages. */
    interface Handler {
        /**
         * Handles a message. Returns accepted, or why the connection must end; the handler has called {@link #refuse} itself if
         * it had more to say.
         */
        ExchangeResult onMessage(ExchangeConnection connection, MessageType type, DirectBuffer buffer, int offset);
    }

    /** The clock of an end whose packets have the time of a card: it neither asks for the time nor answers. */
    static final EpochNanoClock UNKNOWN_TIME = () -> 0;

    private static final int STRANGER_BYTES =
        2 * (ExchangeHeader.LENGTH_BYTES + 8 + RefusedMessage.MAX_TEXT_BYTES + ExchangeHeader.TRAILER_BYTES);
    private static final int SESSION_BYTES = 2 * ExchangeHeader.MAX_MESSAGE_BYTES;
    private static final int READS_PER_POLL = 4;
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
    private static final long NEVER = Long.MAX_VALUE;
    /** Longest time for the other end to read the last messages. */
    private static final long LINGER_NS = 2_000_000_000L;
    /** Between two questions for the time. The ends poll every millisecond: the fastest of some exchanges count. */
    private static final long TIME_PERIOD_NS = 50_000_000L;
    private static final long NO_TOKEN = 0;

    private final PeerChannel channel;
    private final boolean isReceiver;
    private final ConnectionLimits limits;
    private final ExchangeCounters counters;
    private final EpochNanoClock clock;
    private final PingMessage ping = new PingMessage();
    private final long openedNs;
    private final UnsafeBuffer scratch = new UnsafeBuffer(new byte[HelloMessage.MAX_BYTES + RefusedMessage.MAX_TEXT_BYTES + 64]);
    private final UnsafeBuffer view = new UnsafeBuffer(0, 0);
    private final UnsafeBuffer outboundView = new UnsafeBuffer(0, 0);
    private ByteBuffer inbound = ByteBuffer.allocate(STRANGER_BYTES);
    private ByteBuffer outbound = ByteBuffer.allocate(STRANGER_BYTES);
    private MessageSeal seal;
    private SharedKey key;
    private boolean isUnreadable;
    private int version;
    private int maxMessageBytes;
    private boolean isInSession;
    private long lastMessageNs;
    private long lastPingNs;
    private long partialSinceNs = NEVER;
    private long blockedSinceNs = NEVER;
    private long pingToken;
    /** Of the question for the time that has no answer yet. */
    private long timeToken = NO_TOKEN;
    private int timeQuestions;
    private long timeAskedNs;
    private boolean isTimeless;
    /** The other end has told its time: it knows of delays. */
    private boolean isTimed;
    private long questionSentNs;
    private long answerReceivedNs;
    private ExchangeCounter end;
    private String reason = "";
    private long lingerUntilNs = NEVER;
    private boolean isSaid;
    private boolean isClosed;

    ExchangeConnection(
        final PeerChannel channel, final boolean isReceiver, final ConnectionLimits limits, final ExchangeCounters counters,
        final EpochNanoClock clock, final long nowNs) {
        this.channel = channel;
        this.isReceiver = isReceiver;
        this.limits = limits;
        this.counters = counters;
        this.clock = clock;
        isTimeless = clock == UNKNOWN_TIME;
        openedNs = nowNs;
        lastMessageNs = nowNs;
        lastPingNs = nowNs;
        version = isReceiver ? ExchangeHeader.OLDEST_VERSION : ExchangeHeader.VERSION;
        maxMessageBytes = isReceiver ? HelloMessage.MAX_BYTES : STRANGER_BYTES / 2;
        outboundView.wrap(outbound);
    }

    boolean isEnded() {
        return end != null;
    }

    /** How it ended; null while it is open. */
    ExchangeCounter end() {
        return end;
    }

    /** The text sent or received at its end; empty if none. */
    String reason() {
        return reason;
    }

    boolean isInSession() {
        return isInSession;
    }

    MessageSeal seal() {
        return seal;
    }

    /** Seals every further message, in both directions, by a seal of the key. */
    void authenticate(final SharedKey sessionKey, final MessageSeal sessionSeal) {
        key = sessionKey;
        seal = sessionSeal;
    }

    /**
     * Judges the connection by keys and certificates that were read again. One that is no session yet ends; a session goes on if
     * its key is still one of them and the other end's certificate still trusted. It is refused otherwise.
     */
    void judge(final PeerSecurity security) {
        if (isEnded()) {
            return;
        }
        if (!isInSession) {
            end(ExchangeCounter.ENDED_LOCALLY, "keys or certificates changed; connect again");
        } else if (key != null && !security.keys().contains(key)) {
            refuse(ExchangeResult.AUTHENTICATION, "the shared key of this session is no longer valid");
        } else if (security.tls() != null && !channel.isTrusted(security.tls())) {
            refuse(ExchangeResult.AUTHENTICATION, "the certificate of this session is no longer trusted");
        }
    }

    /** Marks the connection as private: it uses TLS, or both ends are on this host. */
    void unreadable() {
        isUnreadable = true;
    }

    /** {@return whether addresses and ports may be sent} */
    boolean mayCarryFlowKeys() {
        return isUnreadable || seal != null && seal.isEncrypting();
    }

    /** Sets the protocol version: the sender's, as in its HELLO. */
    void speak(final int newVersion) {
        version = newVersion;
    }

    /** {@return the protocol version of this end} */
    int version() {
        return version;
    }

    /** {@return the time of the last whole message, or of the session's start} */
    long heardNs() {
        return lastMessageNs;
    }

    /** Starts the session: longer messages are accepted. */
    void beginSession(final long nowNs) {
        isInSession = true;
        lastMessageNs = nowNs;
        timeAskedNs = nowNs;
        maxMessageBytes = limits.maxMessageBytes();
        final ByteBuffer larger = ByteBuffer.allocate(limits.outboundBytes());
        larger.put(outbound.flip());
        outbound = larger;
        outboundView.wrap(outbound);
    }

    /** Receives, sends, and checks timeouts. Returns a count of work done, 0 for none. */
    int poll(final long nowNs, final Handler handler) {
        if (isEnded()) {
            return 0;
        }
        try {
            int workCount = 0;
            if (channel.isReady()) {
                workCount = receive(nowNs, handler);
                if (!isEnded()) {
                    workCount += flush(nowNs);
                }
            }
            if (!isEnded()) {
                workCount += lookAtTime(nowNs);
            }
            return workCount;
        } catch (final SSLException ex) {
            end(ExchangeCounter.ENDED_TLS, text(ex));
        } catch (final IOException ex) {
            end(ExchangeCounter.ENDED_BROKEN, text(ex));
        } catch (final RuntimeException ex) {
            end(ExchangeCounter.ENDED_LOCALLY, "an error of this end: " + text(ex));
            throw ex;
        }
        return 1;
    }

    private static String text(final Exception ex) {
        return ex.getMessage() == null ? ex.getClass().getSimpleName() : ex.getMessage();
    }

    private int receive(final long nowNs, final Handler handler) throws IOException {
        int receivedBytes = 0;
        for (int i = 0; i < READS_PER_POLL && !isEnded(); i++) {
            makeRoom();
            final int readBytes = channel.read(inbound);
            if (readBytes > 0) {
                receivedBytes += readBytes;
                counters.add(ExchangeCounter.OCTETS_RECEIVED, readBytes);
                passOn(nowNs, handler);
            } else {
                if (readBytes < 0) {
                    end(ExchangeCounter.ENDED_BY_PEER, "");
                }
                break;
            }
        }
        return receivedBytes;
    }

    private void makeRoom() {
        if (isInSession && inbound.capacity() < SESSION_BYTES) {
            inbound = ByteBuffer.allocate(SESSION_BYTES).put(inbound.flip());
        }
    }

    private void passOn(final long nowNs, final Handler handler) {
        view.wrap(inbound);
        final int available = inbound.position();
        int offset = 0;
        boolean isAnyWhole = false;
        while (!isEnded()) {
            final int lengthBytes = wholeMessage(offset, available - offset);
            if (lengthBytes <= 0) {
                break;
            }
            isAnyWhole = true;
            passOn(offset, lengthBytes, nowNs, handler);
            offset += lengthBytes;
        }
        if (isEnded()) {
            return;
        }
        inbound.flip().position(offset);
        inbound.compact();
        if (inbound.position() == 0) {
            partialSinceNs = NEVER;
        } else if (isAnyWhole || partialSinceNs == NEVER) {
            partialSinceNs = nowNs;
        }
    }

    /** Length of the message at the offset, 0 if it is not whole. Ends the connection if the message is not allowed. */
    private int wholeMessage(final int offset, final int availableBytes) {
        final ExchangeResult result = ExchangeVerifier.verifyHeader(view, offset, availableBytes, maxMessageBytes);
        if (result == ExchangeResult.TOO_SHORT) {
            return 0;
        }
        if (result != ExchangeResult.ACCEPTED) {
            refuse(result, explain(result, offset));
            return 0;
        }
        final int lengthBytes = ExchangeHeader.lengthBytes(view, offset);
        return lengthBytes <= availableBytes ? lengthBytes : 0;
    }

    private String explain(final ExchangeResult result, final int offset) {
        return switch (result) {
            case VERSION -> difference("version", ExchangeHeader.version(view, offset), ExchangeHeader.VERSION);
            case LENGTH -> "length: " + ExchangeHeader.lengthBytes(view, offset) + ", at most " + maxMessageBytes;
            default -> "header: " + result.label();
        };
    }

    /** Names both values of a mismatch. */
    String difference(final String name, final Object theirs, final Object ours) {
        return isReceiver ?
            name + ": sender " + theirs + ", receiver " + ours : name + ": sender " + ours + ", receiver " + theirs;
    }

    private void passOn(final int offset, final int lengthBytes, final long nowNs, final Handler handler) {
        final MessageType type = ExchangeHeader.type(view, offset);
        if (isInSession && ExchangeHeader.version(view, offset) != version && type != MessageType.REFUSED) {
            refuse(ExchangeResult.VERSION, difference("version", ExchangeHeader.version(view, offset), version));
            return;
        }
        if (seal == null) {
            if (type != MessageType.HELLO && ExchangeHeader.isAuthenticated(view, offset)) {
                refuse(ExchangeResult.AUTHENTICATION, difference("authenticated", "yes", "no"));
                return;
            }
        } else if (!seal.open(view, offset, lengthBytes) && !isLastWord(type, offset)) {
            refuse(ExchangeResult.AUTHENTICATION,
                "message " + type + ": not authentic; the shared keys differ, or it was changed");
            return;
        }
        final ExchangeResult result = ExchangeVerifier.verify(view, offset, lengthBytes);
        if (result != ExchangeResult.ACCEPTED) {
            refuse(result, "message " + type + ": " + result.label());
            return;
        }
        lastMessageNs = nowNs;
        counters.increment(ExchangeCounter.MESSAGES_RECEIVED);
        final ExchangeResult verdict = type == MessageType.PING && isInSession ?
            onPing(offset, handler) : handler.onMessage(this, type, view, offset);
        if (verdict != ExchangeResult.ACCEPTED && !isEnded()) {
            refuse(verdict, "message " + type + ": " + verdict.label());
        }
    }

    /** A peer without a common key can still send a refusal; its only effect is the end of the connection. */
    private boolean isLastWord(final MessageType type, final int offset) {
        return type == MessageType.REFUSED && seal.opened() == 0 && !ExchangeHeader.isAuthenticated(view, offset);
    }

    private ExchangeResult onPing(final int offset, final Handler handler) {
        ping.wrap(view, offset);
        if (!ping.isAnswer()) {
            if (ping.isForTime() && clock != UNKNOWN_TIME) {
                final long receivedNs = clock.nanoTime();
                send(scratch, PingMessage.encodeTimes(scratch, 0, ping.token(), receivedNs, clock.nanoTime()));
            } else {
                send(scratch, PingMessage.encode(scratch, 0, ping.token(), true));
            }
            return ping.hasDelay() ? tellDelay(offset, handler) : ExchangeResult.ACCEPTED;
        } else if (ping.isForTime() && ping.token() == timeToken) {
            timeToken = NO_TOKEN;
            isTimed = ping.hasTimes();
            isTimeless = !isTimed;
            if (!isTimeless) {
                answerReceivedNs = clock.nanoTime();
                return handler.onMessage(this, MessageType.PING, view, offset);
            }
        } else if (ping.hasTimes()) {
            return ExchangeResult.UNEXPECTED;
        }
        return ExchangeResult.ACCEPTED;
    }

    private ExchangeResult tellDelay(final int offset, final Handler handler) {
        return isReceiver ? ExchangeResult.UNEXPECTED : clock == UNKNOWN_TIME ? ExchangeResult.ACCEPTED :
            handler.onMessage(this, MessageType.PING, view, offset);
    }

    /**
     * Asks the other end for its time if that is due: some times a second, one question after the other, in a session whose
     * other end knows of it. The answer comes as a PING with times.
     *
     * @param delay of packets from the other end, which the question tells if one is offered.
     */
    void askTime(final long nowNs, final LeastDelay delay) {
        if (!isEnded() && isInSession && !isTimeless && timeToken == NO_TOKEN && nowNs - timeAskedNs >= TIME_PERIOD_NS) {
            timeAskedNs = nowNs;
            final long token = PingMessage.timeToken(++timeQuestions);
            final boolean isTelling = isTimed && delay.isOffered();
            questionSentNs = clock.nanoTime();
            if (send(scratch, isTelling ? PingMessage.encodeDelay(scratch, 0, token, delay.sentNs(), delay.arrivedNs()) :
                PingMessage.encode(scratch, 0, token, false))) {
                timeToken = token;
                if (isTelling) {
                    delay.taken();
                }
                try {
                    flush(nowNs);
                } catch (final IOException ex) {
                    end(ExchangeCounter.ENDED_BROKEN, text(ex));
                }
            }
        }
    }

    /** {@return when the question that was last answered left, by this end's clock, ns since the epoch} */
    long questionSentNs() {
        return questionSentNs;
    }

    /** {@return when its answer came} */
    long answerReceivedNs() {
        return answerReceivedNs;
    }

    private int lookAtTime(final long nowNs) {
        if (!isInSession) {
            if (nowNs - openedNs > limits.handshakeTimeoutNs()) {
                end(ExchangeCounter.ENDED_HANDSHAKE, "no session in time");
                return 1;
            }
            return 0;
        }
        if (partialSinceNs != NEVER && nowNs - partialSinceNs > limits.messageTimeoutNs() ||
            blockedSinceNs != NEVER && nowNs - blockedSinceNs > limits.messageTimeoutNs()) {
            end(ExchangeCounter.ENDED_SLOW, "a message took too long");
            return 1;
        }
        if (nowNs - lastMessageNs > limits.idleTimeoutNs()) {
            end(ExchangeCounter.ENDED_SILENT, "no message for too long");
            return 1;
        }
        if (nowNs - Math.max(lastPingNs, lastMessageNs) > limits.idleTimeoutNs() / 3) {
            lastPingNs = nowNs;
            send(scratch, PingMessage.encode(scratch, 0, ++pingToken, false));
            return 1;
        }
        return 0;
    }

    /** Octets of messages, trailers included, that fit into the send buffer now. */
    int room() {
        return isEnded() ? 0 : outbound.remaining();
    }

    /**
     * Sends a message.
     *
     * @param message   at offset 0, with room for a trailer behind it; the trailer is written there.
     * @param bareBytes length without a trailer.
     * @return false if there is no room; nothing was written then.
     */
    boolean send(final MutableDirectBuffer message, final int bareBytes) {
        final int lengthBytes = bareBytes + (seal == null ? 0 : ExchangeHeader.TRAILER_BYTES);
        if (isEnded() || outbound.remaining() < lengthBytes) {
            return false;
        }
        ExchangeHeader.version(message, 0, version);
        if (seal != null) {
            ExchangeHeader.addTrailer(message, 0, bareBytes);
            seal.seal(message, 0, lengthBytes);
        }
        outboundView.putBytes(outbound.position(), message, 0, lengthBytes);
        outbound.position(outbound.position() + lengthBytes);
        counters.increment(ExchangeCounter.MESSAGES_SENT);
        counters.add(ExchangeCounter.OCTETS_SENT, lengthBytes);
        return true;
    }

    int flush(final long nowNs) throws IOException {
        channel.flush();
        if (outbound.position() == 0) {
            blockedSinceNs = NEVER;
            return 0;
        }
        outbound.flip();
        final int writtenBytes;
        try {
            writtenBytes = channel.write(outbound);
        } finally {
            outbound.compact();
        }
        if (writtenBytes > 0 || blockedSinceNs == NEVER) {
            blockedSinceNs = nowNs;
        }
        return writtenBytes;
    }

    /** Sends the reason and ends the connection. */
    void refuse(final ExchangeResult result, final String text) {
        counters.refused(result);
        if (result == ExchangeResult.AUTHENTICATION && !isInSession) {
            seal = null;
        }
        send(scratch, RefusedMessage.encode(scratch, 0, result, text));
        end(ExchangeCounter.ENDED_REFUSED, text);
    }

    /** Sends the reason of a refusal; the connection goes on. */
    void complain(final ExchangeResult result, final String text) {
        counters.refused(result);
        send(scratch, RefusedMessage.encode(scratch, 0, result, text));
    }

    /**
     * Ends the connection, once. Octets written before are still sent: {@link #linger}. Closing the socket while it holds unread
     * octets, or while the other end still writes, would make the kernel drop what the other end has not read yet.
     */
    void end(final ExchangeCounter how, final String why) {
        if (isEnded()) {
            return;
        }
        end = how;
        reason = why;
        counters.increment(how);
        inbound = NOTHING;
        outbound.flip();
        if (how == ExchangeCounter.ENDED_TLS) {
            outbound = NOTHING;
        } else if (how == ExchangeCounter.ENDED_BROKEN || how == ExchangeCounter.ENDED_HANDSHAKE ||
            how == ExchangeCounter.ENDED_EVICTED) {
            close();
        }
    }

    /**
     * After the end: sends the last octets, closes its direction, and waits a bounded time for the other end to close. Received
     * octets are discarded. Returns whether the socket is closed.
     */
    boolean linger(final long nowNs) {
        if (!isClosed) {
            lingerUntilNs = lingerUntilNs == NEVER ? nowNs + LINGER_NS : lingerUntilNs;
            try {
                if (!isSaid) {
                    channel.write(outbound);
                    isSaid = !outbound.hasRemaining() && channel.shutdown();
                }
                if (isSaid && isOtherEndDone() || nowNs - lingerUntilNs >= 0) {
                    close();
                }
            } catch (final IOException | RuntimeException ex) {
                close();
            }
        }
        return isClosed;
    }

    private boolean isOtherEndDone() throws IOException {
        int droppedBytes = 1;
        for (int i = 0; i < READS_PER_POLL && droppedBytes > 0; i++) {
            droppedBytes = channel.discard();
        }
        return droppedBytes < 0;
    }

    /** Closes the socket at once. */
    void close() {
        isClosed = true;
        outbound = NOTHING;
        channel.close();
    }
}

package io.flowlag.ipfix.transport;

import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.PortUnreachableException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.function.Predicate;

/**
 * Messages as datagrams (RFC 7011 section 10.3). The kernel always fills in the UDP checksum. A collector reported absent by ICMP
 * is counted in {@link #peerLossCount()} and never stops the sending. With a rate limit, a message that would exceed it is {@link
 * SendResult#BUSY} (RFC 5476 section 6.3). If the host has lost the source address, the transport reconnects from another
 * address: another Transport Session.
 *
 * <p>See {@link Transport} for threads and memory. Allocates at construction, when connecting and on errors.
 */
public final class UdpTransport extends TransportSupport {
    /** Wait before an unresolved or unreachable address is tried again. */
    private static final long RETRY_INTERVAL_MS = 1_000L;
    private static final int MAX_DATAGRAM_BYTES = 65_535;

    private final AddressLookup lookup;
    private final int sendBufferBytes;
    private final RateLimit rateLimit;
    private final Predicate<InetAddress> isOfThisHost;
    private final ByteBuffer datagram = ByteBuffer.allocateDirect(MAX_DATAGRAM_BYTES);
    /** Of a collector that answers, which none should. */
    private final ByteBuffer answer = ByteBuffer.allocateDirect(1);
    private DatagramChannel channel;
    private InetAddress ownAddress;
    private long lastFailureMs = Long.MIN_VALUE;
    private long deliveredOctets;
    private long peerLossCount;

    /** Without a rate limit and with the kernel's own buffer size. */
    public UdpTransport(final Endpoint collector) {
        this(collector, 0, 0);
    }

    /**
     * A transport that connects in its first duty cycle.
     *
     * @param sendBufferBytes     of the socket; 0 for what the kernel gives.
     * @param rateLimitBitsPerSec of messages, 0 for none.
     */
    public UdpTransport(final Endpoint collector, final int sendBufferBytes, final long rateLimitBitsPerSec) {
        this(collector, sendBufferBytes, rateLimitBitsPerSec, UdpTransport::isOfThisHost);
    }

    UdpTransport(
        final Endpoint collector, final int sendBufferBytes, final long rateLimitBitsPerSec,
        final Predicate<InetAddress> isOfThisHost) {
        super("udp://" + collector);
        this.lookup = new AddressLookup(collector);
        this.sendBufferBytes = sendBufferBytes;
        this.rateLimit = new RateLimit(rateLimitBitsPerSec, MAX_DATAGRAM_BYTES);
        this.isOfThisHost = isOfThisHost;
    }

    private static boolean isOfThisHost(final InetAddress address) {
        try {
            return NetworkInterface.getByInetAddress(address) != null;
        } catch (final SocketException ex) {
            return true;
        }
    }

    @Override
    public TransportKind kind() {
        return TransportKind.DATAGRAM;
    }

    @Override
    public int doWork(final long nowMs) {
        rateLimit.onTime(nowMs);
        if (channel != null || state() == TransportState.CLOSED || !isAttemptDue(nowMs)) {
            return 0;
        }
        return connect(nowMs);
    }

    private int connect(final long nowMs) {
        try {
            final InetSocketAddress address = lookup.poll();
            if (address == null) {
                return 0;
            }
            channel = open(address);
            ownAddress = ((InetSocketAddress)channel.getLocalAddress()).getAddress();
            lookup.settle();
            deliveredOctets = 0;
            state(TransportState.CONNECTED);
            return 1;
        } catch (final IOException ex) {
            lastFailureMs = nowMs;
            error("cannot use " + name(), ex);
            return 0;
        }
    }

    /** A clock that was set back makes an attempt due, or it might never be. */
    private boolean isAttemptDue(final long nowMs) {
        return lastFailureMs == Long.MIN_VALUE || nowMs < lastFailureMs || nowMs - lastFailureMs >= RETRY_INTERVAL_MS;
    }

    private DatagramChannel open(final InetSocketAddress address) throws IOException {
        final DatagramChannel opened = DatagramChannel.open(
            address.getAddress() instanceof Inet6Address ? StandardProtocolFamily.INET6 : StandardProtocolFamily.INET);
        try {
            opened.configureBlocking(false);
            if (sendBufferBytes > 0) {
                opened.setOption(StandardSocketOptions.SO_SNDBUF, sendBufferBytes);
            }
            return opened.connect(address);
        } catch (final IOException ex) {
            CloseHelper.quietClose(opened);
            throw ex;
        }
    }

    @Override
    public SendResult send(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        if (channel == null || !rateLimit.allows(lengthBytes)) {
            return SendResult.BUSY;
        }
        buffer.getBytes(offset, datagram, 0, lengthBytes);
        final SendResult result = write(lengthBytes, true);
        if (result == SendResult.SENT) {
            rateLimit.onSent(lengthBytes);
            deliveredOctets += lengthBytes;
        }
        return result;
    }

    /** Sends a datagram. The call may report the error of an earlier datagram instead, so it is tried a second time. */
    private SendResult write(final int lengthBytes, final boolean mayRetry) {
        try {
            datagram.limit(lengthBytes).position(0);
            return channel.write(datagram) == lengthBytes ? SendResult.SENT : SendResult.BUSY;
        } catch (final PortUnreachableException ex) {
            onRefused();
            return mayRetry ? write(lengthBytes, false) : SendResult.FAILED;
        } catch (final IOException ex) {
            error("cannot send to " + name(), ex);
            if (mayRetry) {
                return write(lengthBytes, false);
            }
            leaveLostAddress();
            return SendResult.FAILED;
        }
    }

    private void onRefused() {
        peerLossCount++;
        error("no collector listens at " + name() + " (ICMP port unreachable)");
    }

    /** The kernel reports an error with the next call on the socket, whichever it is; a send would be too late for templates. */
    @Override
    public void checkPeer() {
        if (channel == null) {
            return;
        }
        try {
            answer.clear();
            channel.read(answer);
        } catch (final PortUnreachableException ex) {
            onRefused();
        } catch (final IOException ex) {
            error("cannot send to " + name(), ex);
        }
    }

    /** Disconnects from a lost address: the kernel sends only from the address that the socket was connected with. */
    private void leaveLostAddress() {
        if (!isOfThisHost.test(ownAddress)) {
            CloseHelper.quietClose(channel);
            channel = null;
            state(TransportState.DISCONNECTED);
        }
    }

    @Override
    public long deliveredOctets() {
        return deliveredOctets;
    }

    @Override
    public long peerLossCount() {
        return peerLossCount;
    }

    @Override
    public void close() {
        lookup.cancel();
        CloseHelper.quietClose(channel);
        channel = null;
        state(TransportState.CLOSED);
    }
}

package io.flowlag.ipfix.support;

import io.flowlag.ipfix.transport.SendResult;
import io.flowlag.ipfix.transport.Transport;
import io.flowlag.ipfix.transport.TransportKind;
import io.flowlag.ipfix.transport.TransportState;
import org.agrona.DirectBuffer;

import java.util.ArrayList;
import java.util.List;

/** A transport that does what a test tells it, and keeps the messages of each connection. */
public final class ScriptedTransport implements Transport {
    public final List<List<byte[]>> connections = new ArrayList<>();
    public SendResult nextResult = SendResult.SENT;
    /** If set, octets stay in the transport until {@link #deliver}. */
    public boolean isBuffering;
    public long uncertainOctets;
    public long peerLossCount;
    private boolean isContinued;
    private final TransportKind kind;
    private TransportState state = TransportState.DISCONNECTED;
    private long takenOctets;
    private long deliveredOctets;

    public ScriptedTransport(final TransportKind kind) {
        this.kind = kind;
    }

    public static ScriptedTransport connected(final TransportKind kind) {
        final ScriptedTransport transport = new ScriptedTransport(kind);
        transport.connect();
        return transport;
    }

    public void connect() {
        connections.add(new ArrayList<>());
        takenOctets = 0;
        deliveredOctets = 0;
        isContinued = false;
        state = TransportState.CONNECTED;
    }

    /** Goes on where the connection before broke; what was not delivered is gone. */
    public void goOn() {
        final List<byte[]> before = messages();
        final long octets = deliveredOctets;
        connect();
        for (int i = 0; takenOctets < octets; i++) {
            messages().add(before.get(i));
            takenOctets += before.get(i).length;
        }
        deliveredOctets = takenOctets;
        isContinued = true;
    }

    public void disconnect() {
        state = TransportState.DISCONNECTED;
    }

    public void fail() {
        state = TransportState.FAILED;
    }

    public void deliver() {
        deliveredOctets = takenOctets;
    }

    public List<byte[]> messages() {
        return connections.get(connections.size() - 1);
    }

    @Override
    public SendResult send(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        if (state != TransportState.CONNECTED) {
            return SendResult.BUSY;
        }
        if (nextResult == SendResult.SENT) {
            final byte[] message = new byte[lengthBytes];
            buffer.getBytes(offset, message);
            messages().add(message);
            takenOctets += lengthBytes;
            deliveredOctets = isBuffering ? deliveredOctets : takenOctets;
        }
        return nextResult;
    }

    @Override
    public boolean flush(final long nowMs) {
        return deliveredOctets == takenOctets;
    }

    @Override
    public TransportKind kind() {
        return kind;
    }

    @Override
    public TransportState state() {
        return state;
    }

    @Override
    public long connectionCount() {
        return connections.size();
    }

    @Override
    public boolean isContinued() {
        return isContinued;
    }

    @Override
    public long deliveredOctets() {
        return deliveredOctets;
    }

    @Override
    public long uncertainOctets() {
        return uncertainOctets;
    }

    @Override
    public long peerLossCount() {
        return peerLossCount;
    }

    @Override
    public String name() {
        return "scripted";
    }

    @Override
    public String lastError() {
        return "";
    }

    @Override
    public void close() {
        state = TransportState.CLOSED;
    }
}

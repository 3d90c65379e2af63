package io.flowlag.exporter.runtime;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.export.DestinationFactory;
import io.flowlag.exporter.runtime.collect.MessagePrinter;
import io.flowlag.exporter.runtime.collect.TableStart;
import io.flowlag.exporter.terminal.ResultStream;
import io.flowlag.exporter.terminal.Terminal;
import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.ipfix.transport.SendResult;
import io.flowlag.ipfix.transport.Transport;
import io.flowlag.ipfix.transport.TransportKind;
import io.flowlag.ipfix.transport.TransportState;
import org.agrona.DirectBuffer;

import java.util.concurrent.TimeUnit;

/**
 * The output of {@code meter} without {@code --export}. Messages go to a printer in the same process instead of a socket, so the
 * table shows what a collector would receive. Made by the conductor, run by the exporting thread.
 */
public final class TableOutput implements Transport {
    /** Of the destination. */
    static final String NAME = "standard output";
    private static final int MAX_MESSAGE_BYTES = 16_000;

    private final MessagePrinter printer;
    private long deliveredOctets;
    private volatile TransportState state = TransportState.CONNECTED;
    private volatile String lastError = "";

    private TableOutput(final MessagePrinter printer) {
        this.printer = printer;
    }

    /** A destination that prints a table with the expected contents. */
    public static Destination destination(
        final DestinationFactory factory, final ExporterConfig config, final TableStart start, final Terminal terminal) {
        final MessagePrinter printer = new MessagePrinter(
            FlowElements.registry((int)config.exporting().enterpriseNumber()), start, terminal.out());
        final long lingerNs = TimeUnit.SECONDS.toNanos(1);
        final ExporterConfig.Destination spec = new ExporterConfig.Destination(
            new ExporterConfig.Address(NAME, ExporterConfig.Transport.FILE, null, 0, null), ExporterConfig.Profile.FULL, false,
            lingerNs, MAX_MESSAGE_BYTES, new ExporterConfig.Refresh(lingerNs, 0), lingerNs,
            new ExporterConfig.Connection(0, lingerNs, lingerNs, 0), new ExporterConfig.Spool(null, 0, 0));
        return factory.make(NAME, new TableOutput(printer), config, spec);
    }

    @Override
    public SendResult send(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        if (state != TransportState.CONNECTED) {
            return SendResult.FAILED;
        }
        if (!printer.onMessage(buffer, offset, lengthBytes, System.nanoTime())) {
            lastError = ResultStream.FAILURE;
            state = TransportState.FAILED;
            return SendResult.FAILED;
        }
        deliveredOctets += lengthBytes;
        return SendResult.SENT;
    }

    @Override
    public int doWork(final long nowMs) {
        return 0;
    }

    @Override
    public boolean flush(final long nowMs) {
        return true;
    }

    @Override
    public TransportKind kind() {
        return TransportKind.FILE;
    }

    @Override
    public TransportState state() {
        return state;
    }

    @Override
    public long connectionCount() {
        return 1;
    }

    @Override
    public long deliveredOctets() {
        return deliveredOctets;
    }

    @Override
    public long uncertainOctets() {
        return 0;
    }

    @Override
    public long peerLossCount() {
        return 0;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String lastError() {
        return lastError;
    }

    @Override
    public void close() {
        state = TransportState.CLOSED;
    }
}

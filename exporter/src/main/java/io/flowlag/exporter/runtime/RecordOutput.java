package io.flowlag.exporter.runtime;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.export.DestinationFactory;
import io.flowlag.exporter.export.RecordField;
import io.flowlag.exporter.listing.Listing;
import io.flowlag.exporter.listing.RowPart;
import io.flowlag.exporter.runtime.collect.MessagePrinter;
import io.flowlag.exporter.terminal.ResultStream;
import io.flowlag.exporter.terminal.Terminal;
import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.ipfix.transport.SendResult;
import io.flowlag.ipfix.transport.Transport;
import io.flowlag.ipfix.transport.TransportKind;
import io.flowlag.ipfix.transport.TransportState;
import org.agrona.DirectBuffer;

import java.util.EnumSet;
import java.util.Set;

/**
 * The output of {@code meter}, {@code delay} and {@code run} without {@code --export}. Messages go to a printer in the same
 * process instead of a socket, so it shows what a collector would receive. Made by the conductor, run by the exporting thread.
 */
public final class RecordOutput implements Transport {
    /** Of the destination. */
    static final String NAME = "standard output";
    private static final int MAX_MESSAGE_BYTES = 16_000;
    private static final long LINGER_NS = 1_000_000_000L;

    private final MessagePrinter printer;
    private final Terminal terminal;
    private final boolean isLive;
    private long deliveredOctets;
    private volatile TransportState state = TransportState.CONNECTED;
    private volatile String lastError = "";

    private RecordOutput(final MessagePrinter printer, final Terminal terminal, final boolean isLive) {
        this.printer = printer;
        this.terminal = terminal;
        this.isLive = isLive;
    }

    /** {@return what the rows of a process may have} */
    public static Set<RowPart> parts(final ExporterConfig config, final boolean hasDelays) {
        final Set<RowPart> parts = hasDelays ? EnumSet.complementOf(EnumSet.of(RowPart.TCP, RowPart.SAMPLE, RowPart.SPELL)) :
            EnumSet.of(RowPart.TRAFFIC);
        if (config.metering().tcp()) {
            parts.add(RowPart.TCP);
        }
        if (config.metering().sampling().isOn()) {
            parts.add(RowPart.SAMPLE);
        }
        return parts;
    }

    /** A destination that prints the records, or has them taken with the options records; if live, as they come. */
    public static Destination destination(
        final DestinationFactory factory, final ExporterConfig config, final Listing listing, final Terminal terminal,
        final boolean isLive) {
        final MessagePrinter printer = new MessagePrinter(
            FlowElements.registry((int)config.exporting().enterpriseNumber()), listing, RecordField.names());
        final ExporterConfig.Destination spec = new ExporterConfig.Destination(
            new ExporterConfig.Address(NAME, ExporterConfig.Transport.FILE, null, 0, null), ExporterConfig.Profile.FULL,
            listing.taker() != null, LINGER_NS, MAX_MESSAGE_BYTES, new ExporterConfig.Refresh(LINGER_NS, 0), LINGER_NS,
            new ExporterConfig.Connection(0, LINGER_NS, LINGER_NS, 0), new ExporterConfig.Spool(null, 0, 0));
        return factory.make(NAME, new RecordOutput(printer, terminal, isLive), config, spec);
    }

    @Override
    public SendResult send(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        if (state != TransportState.CONNECTED) {
            return SendResult.FAILED;
        }
        final String lines = printer.onMessage(buffer, offset, lengthBytes, System.nanoTime());
        if (!print(isLive ? lines + printer.settle() : lines)) {
            return SendResult.FAILED;
        }
        deliveredOctets += lengthBytes;
        return SendResult.SENT;
    }

    /** Returns false if the output took nothing: its reader has gone or, live, is too slow. */
    private boolean print(final String lines) {
        final boolean isTaken = lines.isEmpty() || terminal.write(() -> {
            if (!isLive) {
                terminal.eraseStatus();
            }
            terminal.out().append(lines);
            if (isLive) {
                terminal.out().flush();
            }
            if (terminal.out().checkError()) {
                lastError = ResultStream.FAILURE;
                state = TransportState.FAILED;
            }
        });
        if (!isTaken) {
            lastError = "the reader of standard output is too slow";
        }
        return isTaken && state != TransportState.FAILED;
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
    public long deliveredOctets() {
        return deliveredOctets;
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
        if (state == TransportState.CONNECTED) {
            print(printer.finish());
            if (!printer.remark().isEmpty()) {
                terminal.message("flowlag: " + printer.remark().replaceFirst("^; ", ""));
            }
        }
        state = TransportState.CLOSED;
    }
}

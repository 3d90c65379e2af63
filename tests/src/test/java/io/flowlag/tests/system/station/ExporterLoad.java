package io.flowlag.tests.system.station;

import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.ipfix.message.MessageHeader;
import io.flowlag.ipfix.message.RecordEncoder;
import io.flowlag.ipfix.message.SetHeader;
import io.flowlag.ipfix.message.TemplateRecordEncoder;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import org.agrona.collections.LongArrayList;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Exporters that send flow records to an inlet, the first half by TCP, the others by UDP. A record is known by its exporter's
 * observation domain and its number, which is its destination address; number and time of sending say all that is in it. Over UDP
 * the sequence numbers go on; over TCP each connection begins at 0, and what was written to one that broke is not sent again.
 */
final class ExporterLoad implements AutoCloseable {
    static final int EXPORTERS = 8;
    static final int SEGMENTS = 10;
    static final int RECORDS = 20;
    static final long ALL_IT_TAKES = 0;
    private static final int SOURCE = 0x0A000001;
    private static final int TEMPLATE_EVERY = 50;
    private static final long RECONNECT_NS = 20_000_000;
    private static final int MOST_BYTES = 4096;
    private static final long FLOW_MS = 20;

    private final Template template = new TemplateCatalog(FlowElements.registry(FlowElements.DOCUMENTATION_ENTERPRISE_NUMBER))
        .template("sourceIPv4Address", "destinationIPv4Address", "sourceTransportPort", "destinationTransportPort",
            "protocolIdentifier", "packetDeltaCount", "octetDeltaCount", "flowStartMilliseconds", "flowEndMilliseconds",
            "flowlagDelayMeanNanoseconds", "flowlagDelayErrorBoundNanoseconds", "flowlagSegmentId");
    private final InetSocketAddress inlet;
    private final long windowMs;
    private final long pauseNs;
    private final List<Exporter> exporters = new ArrayList<>();
    private volatile boolean isOver;

    /**
     * Begins at once.
     *
     * @param recordsPerSecond of all exporters together; {@link #ALL_IT_TAKES} for as many by TCP as the inlet takes, and none
     *                         by UDP.
     */
    ExporterLoad(final int port, final long windowMs, final long recordsPerSecond) {
        inlet = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        this.windowMs = windowMs;
        pauseNs = recordsPerSecond == ALL_IT_TAKES ? 0 : TimeUnit.SECONDS.toNanos(1) * RECORDS * EXPORTERS / recordsPerSecond;
        for (int i = 0; i < EXPORTERS; i++) {
            exporters.add(new Exporter(i));
            if (isTcp(i) || pauseNs > 0) {
                exporters.get(i).start();
            }
        }
    }

    static boolean isTcp(final int exporter) {
        return exporter < EXPORTERS / 2;
    }

    static long packets(final long number) {
        return 1 + number % 7;
    }

    static long octets(final long number) {
        return 100 * packets(number) + number % 13;
    }

    static int segment(final long number) {
        return (int)(number % SEGMENTS);
    }

    /** {@return how many records each exporter has written so far} */
    long[] sent() {
        return exporters.stream().mapToLong((exporter) -> exporter.sent).toArray();
    }

    /** {@return when a record ended, ms since the epoch} */
    long endMs(final int exporter, final long number) {
        final Exporter of = exporters.get(exporter);
        synchronized (of.endsMs) {
            return of.endsMs.getLong((int)(number / RECORDS));
        }
    }

    /** {@return numbers of the first records of an exporter's connections} */
    long[] connections(final int exporter) {
        final Exporter of = exporters.get(exporter);
        synchronized (of.endsMs) {
            return of.connections.toLongArray();
        }
    }

    @Override
    public void close() {
        isOver = true;
        for (final Exporter each : exporters) {
            try {
                each.join();
            } catch (final InterruptedException ex) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** One of them. */
    private final class Exporter extends Thread {
        private final int domain;
        private final LongArrayList endsMs = new LongArrayList();
        private final LongArrayList connections = new LongArrayList();
        private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[MOST_BYTES]);
        private final RecordEncoder encoder = new RecordEncoder();
        private volatile long sent;
        private Socket socket;

        Exporter(final int domain) {
            super("exporter-" + domain);
            this.domain = domain;
        }

        @Override
        public void run() {
            try (DatagramSocket datagrams = new DatagramSocket(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
                long dueNs = System.nanoTime();
                while (!isOver) {
                    if (isTcp(domain)) {
                        byTcp();
                    } else {
                        final int length = encode(sent, sent / RECORDS % TEMPLATE_EVERY == 0);
                        datagrams.send(new DatagramPacket(buffer.byteArray(), length, inlet));
                    }
                    sent += RECORDS;
                    // What could not be sent in time is not made up for.
                    dueNs = Math.max(dueNs + pauseNs, System.nanoTime() - pauseNs);
                    LockSupport.parkNanos(dueNs - System.nanoTime());
                }
                if (socket != null) {
                    socket.close();
                }
            } catch (final IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }

        private void byTcp() throws IOException {
            boolean isFirst = false;
            while (socket == null && !isOver) {
                try {
                    socket = new Socket(inlet.getAddress(), inlet.getPort());
                    isFirst = true;
                } catch (final IOException ex) {
                    LockSupport.parkNanos(RECONNECT_NS);
                }
            }
            if (isFirst) {
                synchronized (endsMs) {
                    connections.addLong(sent);
                }
            }
            final int length = encode(sent - (connections.isEmpty() ? 0 : connections.getLong(connections.size() - 1)), isFirst);
            try {
                if (socket != null) {
                    socket.getOutputStream().write(buffer.byteArray(), 0, length);
                }
            } catch (final IOException ex) {
                socket.close();
                socket = null;
            }
        }

        /** Writes the next message into the buffer. */
        private int encode(final long sequence, final boolean hasTemplate) {
            final long nowMs = System.currentTimeMillis();
            synchronized (endsMs) {
                endsMs.addLong(nowMs);
            }
            int length = MessageHeader.LENGTH_BYTES;
            if (hasTemplate) {
                final int bytes = SetHeader.LENGTH_BYTES + TemplateRecordEncoder.lengthBytes(template);
                SetHeader.put(buffer, length, SetHeader.TEMPLATE_SET_ID, bytes);
                TemplateRecordEncoder.put(buffer, length + SetHeader.LENGTH_BYTES, template);
                length += bytes;
            }
            SetHeader.put(buffer, length, template.templateId(), SetHeader.LENGTH_BYTES + RECORDS * template.minLengthBytes());
            length += SetHeader.LENGTH_BYTES;
            for (long number = sent; number < sent + RECORDS; number++) {
                encoder.wrap(buffer, length, template);
                encoder.ipv4Address(SOURCE).ipv4Address((int)number).unsigned(number & 0xFFFF).unsigned(443).unsigned(6)
                    .unsigned(packets(number)).unsigned(octets(number))
                    .timeNs(TimeUnit.MILLISECONDS.toNanos(Math.max(nowMs / windowMs * windowMs, nowMs - FLOW_MS)))
                    .timeNs(TimeUnit.MILLISECONDS.toNanos(nowMs)).signed(1_000_000 + number % 1000).unsigned(1000)
                    .unsigned(segment(number));
                length += template.minLengthBytes();
            }
            MessageHeader.put(buffer, 0, length, nowMs / 1000, sequence, domain);
            return length;
        }
    }
}

package io.flowlag.station.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.ipfix.collect.CollectorCounter;
import io.flowlag.ipfix.transport.TlsCredentials;
import io.flowlag.station.config.StationConfig;
import io.flowlag.station.inlet.Inlet;
import io.flowlag.station.inlet.KafkaWriter;
import io.flowlag.station.inlet.MessageQueue;
import io.flowlag.station.view.MetricsServer;
import org.agrona.CloseHelper;
import org.agrona.concurrent.SystemEpochNanoClock;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** The inlet of a station: its sockets, the queue behind them, and the writer to Kafka, if there is one. Polled by one thread. */
final class Receiver implements AutoCloseable {
    private final MessageQueue queue;
    private Inlet inlet;
    private final Consumer<String> message;
    private KafkaWriter writer;

    /**
     * Binds all addresses.
     *
     * @param message takes lines that say what is received where.
     * @throws IOException if an address cannot be bound, a file not be read, or Kafka not be reached.
     */
    Receiver(final StationConfig config, final Consumer<String> message) throws IOException {
        final String network = config.job().name();
        // Sessions are of one inlet: among several that write to one topic, each has the name of its host.
        final String name = config.kafka() == null ? network : InetAddress.getLocalHost().getHostName();
        this.message = message;
        queue = new MessageQueue(network);
        try {
            inlet = new Inlet(name, queue, SystemEpochNanoClock.INSTANCE::nanoTime);
            if (config.kafka() != null) {
                writer = new KafkaWriter(config.kafka(), queue, name);
                message.accept("station: messages to Kafka at " + config.kafka().brokers() + "; while it is away, at most " +
                    (MessageQueue.MOST_BYTES + KafkaWriter.MOST_BYTES >> 20) + " MiB of them wait");
            }
            for (final StationConfig.Listener each : config.listen()) {
                message.accept("station: records at " + each.kind().name().toLowerCase(Locale.ROOT) + "://" + text(listen(each)));
            }
        } catch (final IOException | RuntimeException ex) {
            close();
            throw ex;
        }
    }

    /**
     * Receives alone, until the process must end.
     *
     * @throws IOException if a part cannot be had, or a listening socket fails.
     */
    static void run(final StationConfig config, final Consumer<String> message, final BooleanSupplier stop) throws IOException {
        try (Receiver receiver = new Receiver(config, message); MetricsServer metrics = new MetricsServer(config.view(),
            receiver::counters, (fault) -> message.accept("station: " + fault.getMessage()))) {
            message.accept("station: metrics at http://" + text(metrics.address()) + "/metrics");
            while (!stop.getAsBoolean()) {
                receiver.poll();
            }
        }
    }

    static String text(final InetSocketAddress address) {
        final String host = address.getAddress().getHostAddress();
        return (host.indexOf(':') < 0 ? host : '[' + host + ']') + ':' + address.getPort();
    }

    private InetSocketAddress listen(final StationConfig.Listener each) throws IOException {
        try {
            return switch (each.kind()) {
                case UDP -> inlet.server().listenUdp(each.address());
                case TCP -> inlet.server().listenTcp(each.address());
                default -> inlet.server().listenTls(each.address(), TlsCredentials.load(each.credentials().key(),
                    each.credentials().certificate(), each.credentials().authorities()).context(), true);
            };
        } catch (final IOException ex) {
            throw new IOException(text(each.address()) + " cannot be opened: " + ex.getMessage(), ex);
        }
    }

    /** {@return the first address bound} */
    InetSocketAddress address() {
        return inlet.server().addresses().get(0);
    }

    /** Serves every ready socket once, and waits a moment for one if there is none. */
    void poll() throws IOException {
        inlet.poll();
        if (writer != null && writer.fault() != null) {
            throw new ExitException(ExitCode.INTERNAL, "station: Kafka cannot be written: " + writer.fault());
        }
    }

    /** What was received, and what became of it. Any thread. */
    Map<String, Long> counters() {
        final Map<String, Long> counters = new LinkedHashMap<>();
        for (final CollectorCounter each : CollectorCounter.values()) {
            counters.put("inlet_" + each.name().toLowerCase(Locale.ROOT), inlet.counters().get(each));
        }
        counters.put("inlet_messages_lost", inlet.lost());
        if (writer != null) {
            counters.put("inlet_messages_written", writer.sent());
            counters.put("inlet_messages_refused_by_kafka", writer.refused());
            counters.put("inlet_messages_waiting", waiting());
        }
        return counters;
    }

    private long waiting() {
        return queue.size() + writer.unwritten();
    }

    @Override
    public void close() {
        CloseHelper.quietClose(inlet);
        queue.end();
        CloseHelper.closeAll(writer, queue);
        if (writer != null && waiting() > 0) {
            message.accept("station: " + waiting() + " messages are lost: Kafka did not take them");
        }
    }
}

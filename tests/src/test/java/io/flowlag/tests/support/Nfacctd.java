package io.flowlag.tests.support;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** pmacct's nfacctd on a free loopback UDP port, printing to a JSON file when it ends. */
public final class Nfacctd implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final int port = Ports.freeUdp();
    private final Path output;
    private final Command.Running process;

    /**
     * Starts it and waits until it listens.
     *
     * @param directory takes its configuration and output.
     */
    public Nfacctd(final Path directory) {
        output = directory.resolve("nfacctd.json");
        final Path configuration = directory.resolve("nfacctd.conf");
        write(configuration, String.join("\n",
            "daemonize: false",
            "nfacctd_ip: 127.0.0.1",
            "nfacctd_port: " + port,
            "nfacctd_time_new: false",
            "nfacctd_disable_checks: false",
            "nfacctd_pipe_size: 16777216",
            "timestamps_since_epoch: true",
            "print_num_protos: true",
            "plugins: print[a]",
            "aggregate[a]: src_host, dst_host, src_port, dst_port, proto, timestamp_start, timestamp_end",
            "print_output: json",
            "print_output_file: " + output,
            "print_refresh_time: 86400",
            "plugin_pipe_size: 67108864",
            "plugin_buffer_size: 65536",
            ""));
        process = Command.of(Tools.require("nfacctd", "pmacct"), "-f", configuration).timeout(TIMEOUT).start();
        Deadline.await(TIMEOUT, () -> log().contains("waiting for NetFlow/IPFIX data") && log().contains("object handlers"),
            () -> "nfacctd listens: " + log());
    }

    /** {@return where it listens} */
    public int port() {
        return port;
    }

    /**
     * Waits until it has read everything, ends it and reads its file.
     *
     * @return the flows, and the lines of its log about sequence, malformed or discarded messages.
     */
    public Reception finish() {
        Deadline.await(TIMEOUT, () -> Ports.isUdpDrained(port), () -> "nfacctd reads its socket: " + log());
        final long drops = Ports.udpSocket(port).drops();
        process.signal("INT");
        process.finish();
        final List<String> complaints = new ArrayList<>(log().lines().filter(Nfacctd::isComplaint).toList());
        if (drops > 0) {
            complaints.add(drops + " datagrams dropped at nfacctd's socket");
        }
        return new Reception(printed(), complaints);
    }

    private static boolean isComplaint(final String line) {
        return Stream.of("expecting flow", "WARN", "ERROR", "malformed", "discard", "issing data").anyMatch(line::contains);
    }

    private List<Flow> printed() {
        if (!Files.exists(output)) {
            return List.of();
        }
        try (Stream<String> lines = Files.lines(output)) {
            return lines.map(Nfacctd::flow).toList();
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static Flow flow(final String line) {
        try {
            final JsonNode node = JSON.readTree(line);
            return new Flow(node.get("ip_src").asText(), node.get("ip_dst").asText(), node.get("ip_proto").asInt(),
                node.get("port_src").asInt(), node.get("port_dst").asInt(), node.get("packets").asLong(),
                node.get("bytes").asLong(), ms(node.get("timestamp_start")), ms(node.get("timestamp_end")));
        } catch (final IOException ex) {
            throw new UncheckedIOException(line, ex);
        }
    }

    private static long ms(final JsonNode seconds) {
        return new BigDecimal(seconds.asText()).movePointRight(3).longValue();
    }

    private String log() {
        return process.output() + process.errors();
    }

    private static void write(final Path file, final String text) {
        try {
            Files.writeString(file, text);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    @Override
    public void close() {
        process.close();
    }
}

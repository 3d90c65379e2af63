package io.flowlag.tests.benchmark;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * An exporter that reads a capture file, its command line, and the source of its packet count. Facts about other programs are
 * from their manual pages: softflowd 1.1, nfpcapd of nfdump 1.7, pmacctd 1.7, yaf 2.16, ipfixprobe 5. Each has room for 2 000 000
 * flows.
 */
enum ComparedExporter {
    /** This program. */
    FLOWLAG("flowlag", false) {
        @Override
        List<String> command(final Run run) {
            return List.of(run.program(), "meter", "-r", run.capture(), "--max-flows", "2m", "--export", "file:" + run.file(),
                "--stats", run.statistics().toString());
        }
    },
    /** The same with references and sketches: the same packets pass both points, so each is read twice. */
    FLOWLAG_DELAY("flowlag-delay", false) {
        @Override
        List<String> command(final Run run) {
            return List.of(run.program(), "delay", "-s", run.capture(), "-r", run.capture(), "--estimators", "rli,lds",
                "--policy", "every-n", "--set", "rli.every-n=100", "--set", "rli.ceiling=10g", "--max-delay", "20ms",
                "--rows", "4", "--vlda", "1", "--columns", Long.toString(Math.max(16, run.flowCount() / 2)),
                "--max-flows", "2m", "--export", "file:" + run.file());
        }
    },
    /**
     * The receiver point alone, with references and sketches. It reads the capture with references, and the sender's intervals.
     * Counts packets of records with a delay and a bound of its error.
     */
    FLOWLAG_RECEIVER("flowlag-receiver", false) {
        @Override
        List<String> command(final Run run) throws IOException {
            return ReceiverCommand.of(Path.of(run.program()), ReceiverInput.of(Path.of(run.capture())), run.file());
        }

        @Override
        long packetCount(final Run run, final String output, final DatagramSink sink) throws IOException {
            return IpfixPackets.of(run.file()).boundedPacketCount();
        }
    },
    /** YAF, one thread. */
    YAF("yaf", false) {
        @Override
        List<String> command(final Run run) {
            return List.of(run.program(), "--in", run.capture(), "--out", run.file().toString());
        }
    },
    /** ipfixprobe; sums what a sink receives. */
    IPFIXPROBE("ipfixprobe", true) {
        @Override
        List<String> command(final Run run) {
            return List.of(run.program(), "-i", "pcap;file=" + run.capture(), "-s", "cache;s=21", "-o",
                "ipfix;h=127.0.0.1;p=" + run.port() + ";u");
        }
    },
    /** softflowd; prints what it saw. */
    SOFTFLOWD("softflowd", true) {
        @Override
        List<String> command(final Run run) {
            return List.of(run.program(), "-r", run.capture(), "-n", "127.0.0.1:" + run.port(), "-v", "10", "-A", "milli",
                "-T", "full", "-6", "-a", "-m", "2000000", "-d", "-p", "none", "-c", "none");
        }

        @Override
        long packetCount(final Run run, final String output, final DatagramSink sink) {
            return number(output, "Packets processed: (\\d+)");
        }
    },
    /** nfpcapd; writes nfdump files, not IPFIX, and prints what is in them. */
    NFPCAPD("nfpcapd", false) {
        @Override
        List<String> command(final Run run) throws IOException {
            deleteFiles(run.directory(), "nfcapd.");
            return List.of(run.program(), "-r", run.capture(), "-w", run.directory().toString(), "-B", "2097152");
        }

        @Override
        long packetCount(final Run run, final String output, final DatagramSink sink) {
            return number(output, "Flows: \\d+, Packets: (\\d+)");
        }
    },
    /** pmacctd with its IPFIX probe; sleeps for some seconds at its start and end, so compare CPU. Sums what a sink receives. */
    PMACCTD("pmacctd", true) {
        @Override
        List<String> command(final Run run) throws IOException {
            final Path file = run.directory().resolve("pmacctd.conf");
            Files.writeString(file, String.join("\n", "daemonize: false", "pcap_savefile: " + run.capture(), "snaplen: 128",
                "aggregate: src_host, dst_host, src_port, dst_port, proto", "plugins: nfprobe",
                "nfprobe_receiver: 127.0.0.1:" + run.port(), "nfprobe_version: 10", "nfprobe_maxflows: 2000000",
                "plugin_pipe_size: 536870912", "plugin_buffer_size: 1048576", ""), StandardCharsets.UTF_8);
            return List.of(run.program(), "-f", file.toString());
        }
    };

    private static final List<String> SYSTEM_DIRECTORIES =
        List.of("/usr/local/bin", "/usr/bin", "/usr/local/sbin", "/usr/sbin", "/bin", "/sbin");

    private final String exporterName;
    private final boolean isByUdp;

    /** One call of an exporter. */
    record Run(String program, String capture, long flowCount, Path directory, int port) {
        /** {@return the file of its records} */
        Path file() {
            return directory.resolve("records.ipfix");
        }

        /** {@return the file of this program's statistics} */
        Path statistics() {
            return directory.resolve("stats.json");
        }
    }

    ComparedExporter(final String exporterName, final boolean isByUdp) {
        this.exporterName = exporterName;
        this.isByUdp = isByUdp;
    }

    /** {@return its name, as on the command line} */
    String exporterName() {
        return exporterName;
    }

    /** {@return whether it sends to a sink} */
    boolean isByUdp() {
        return isByUdp;
    }

    /**
     * Where the program is.
     *
     * @param given finds what the command line says, or nothing.
     * @return its path, if it is installed.
     */
    Optional<Path> find(final Function<String, Optional<Path>> given) {
        final Optional<Path> named = given.apply(exporterName);
        if (named.isPresent()) {
            return named;
        }
        return Stream.concat(Stream.of(System.getenv().getOrDefault("PATH", "").split(":")), SYSTEM_DIRECTORIES.stream())
            .filter(directory -> !directory.isEmpty())
            .map(directory -> Path.of(directory, exporterName))
            .filter(Files::isExecutable)
            .findFirst();
    }

    /**
     * The command line.
     *
     * @throws IOException if a file that it needs cannot be written.
     */
    abstract List<String> command(Run run) throws IOException;

    /**
     * Number of packets that the exporter saw: those of its records, as the sink or its file has them, unless it prints another.
     *
     * @param sink the destination of its records.
     * @return packets; -1 if unknown.
     * @throws IOException          if its records cannot be read.
     * @throws InterruptedException if interrupted while the sink is waited for.
     */
    long packetCount(final Run run, final String output, final DatagramSink sink) throws IOException, InterruptedException {
        return isByUdp ? sink.packetCount() : IpfixPackets.of(run.file()).packetCount();
    }

    private static long number(final String output, final String pattern) {
        final Matcher matcher = Pattern.compile(pattern).matcher(output);
        long sum = -1;
        while (matcher.find()) {
            sum = Math.max(0, sum) + Long.parseLong(matcher.group(1));
        }
        return sum;
    }

    private static void deleteFiles(final Path directory, final String prefix) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            for (final Path file : files.filter(each -> each.getFileName().toString().startsWith(prefix)).toList()) {
                Files.delete(file);
            }
        }
    }
}

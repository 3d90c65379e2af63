package io.flowlag.tests.system;

import io.flowlag.exporter.status.CounterId;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.DelayFlow;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.Ports;
import io.flowlag.tests.support.Stats;
import io.flowlag.tests.support.SteadyTraffic;
import io.flowlag.tests.support.Tools;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Two processes that see the same packets of the loopback interface as they leave and as they arrive, and exchange sketches: with
 * TLS, with changes of settings at run time, and with strangers at the receiver's port. The tests run
 * side by side, each with an address of its own.
 */
@Tag("topology")
@Tag("slow")
class ExchangeProcessTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(240);
    private static final AtomicInteger TESTS = new AtomicInteger();
    private static final int HOSTILE_CONNECTIONS = 1000;
    private static final int HEADER_BYTES = 16;
    private static final int HELLO = 1;
    /** Intervals whose answers a sender does not wait for when it ends. */
    private static final int UNDER_WAY_AT_THE_END = 2;
    private static final int VERSION = 5;

    private final String destination = "127.7.7." + TESTS.incrementAndGet();
    @TempDir
    private Path directory;
    private int port;
    private int referencePort;
    private Path receiverStats;
    private Path senderStats;
    private Path records;
    private SteadyTraffic traffic;

    @BeforeEach
    void begin() throws IOException {
        NetworkNamespace.assumeAvailable();
        port = Ports.freeTcp();
        referencePort = Ports.freeUdp();
        receiverStats = directory.resolve("receiver.json");
        senderStats = directory.resolve("sender.json");
        records = directory.resolve("receiver.ipfix");
        traffic = new SteadyTraffic(List.of(new InetSocketAddress(0), new InetSocketAddress(0)), destination, 3);
    }

    @AfterEach
    void end() throws InterruptedException {
        if (traffic != null) {
            traffic.stop();
        }
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldExchangeOverTlsAndChangeOverWithoutAnInterval() throws Exception {
        makeCertificates();
        final Path file = directory.resolve("receiver.yaml");
        write(file, "rows: 2, columns: 1k", "");
        try (Command.Running receiver = start(receiverStats, "-c", file, "--export", "file:" + records);
            Command.Running sender = start(senderStats, own(senderTls("sender")))) {
            Flowlag.awaitMetering(receiver, sender);
            awaitCompared(receiver, 2);
            refuseAStranger(receiver);
            renewTheSendersCertificate(sender);
            awaitCompared(receiver, 1);
            assertEquals(1, count("exchange_sessions"), receiver::errors);

            write(file, "rows: 3, columns: 2k, weights: [\"proto=udp dport=9 weight=20\"]", "");
            receiver.signal("HUP");
            await(receiver, "uses settings 2");
            awaitCompared(receiver, 2);
            Deadline.await(TIMEOUT, () -> text(receiverStats).contains("3 rows of 2048 cells"), receiver::errors);
            await(receiver, "of the packets are weighted up");

            write(file, "rows: 3, columns: 2k, in-flight: 1k", "");
            receiver.signal("HUP");
            await(receiver, "reload refused, the old configuration stays: lds.in-flight (memory is taken at the start) cannot " +
                "change while running");
            awaitCompared(receiver, 2);
            sender.stop();
            receiver.stop();
        }
        final Stats stats = Stats.read(receiverStats).orFailUnlessAccounted();
        Stats.read(senderStats).orFailUnlessAccounted();
        assertEquals(0, stats.delayCounter("lds_intervals_refused"), stats::toString);
        assertTrue(stats.delayCounter("exchange_settings_held") >= 2, stats::toString);
        for (final DelayFlow flow : DelayFlow.read(records)) {
            assertTrue(flow.lostPackets() == null || flow.lostPackets() == 0, flow::toString);
        }
    }

    private void renewTheSendersCertificate(final Command.Running sender) throws IOException {
        final String valid = Files.readString(directory.resolve("sender.pem"));
        Files.writeString(directory.resolve("sender.pem"), "no certificate");
        sender.signal("HUP");
        await(sender, directory.resolve("sender.pem") + " holds no");
        assertTrue(sender.errors().contains("reload refused, the old configuration stays: "), sender::errors);
        Files.writeString(directory.resolve("sender.pem"), valid);
        makeCertificate("sender", "ca", "DNS:sender.test");
        sender.signal("HUP");
        awaitReloads(sender, 1);
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldRotateKeysWithoutLosingAnInterval() throws Exception {
        final String old = "00112233445566778899aabbccddeeff\n";
        final String next = "ffeeddccbbaa99887766554433221100\n";
        final Path here = key("receiver.key", old);
        final Path there = key("sender.key", old);
        final Path digest = key("digest.key", old);
        final Path file = directory.resolve("receiver.yaml");
        write(file, "rows: 2, columns: 1k", ", key-file: " + here);
        Files.writeString(file, Files.readString(file).replace("rli: {", "rli: {key-file: " + here + ", ") +
            "decode: {digest-key-file: " + digest + "}\n");
        try (Command.Running receiver = start(receiverStats, "-c", file, "--export", "file:" + records);
            Command.Running sender = start(senderStats, own("--set", "exchange.key-file=" + there, "--set",
                "rli.key-file=" + there, "--set", "rli.target=" + destination, "--set", "rli.port=" + referencePort))) {
            Flowlag.awaitMetering(receiver, sender);
            awaitCompared(receiver, 2);
            renew(receiver, here, old + next, 1);
            refuse(receiver, here, "no key", "holds no key: write 32 to 128 hexadecimal digits", old + next);
            refuse(receiver, digest, next,
                "decode.digest-key-file=" + digest + ": its key changed, which cannot be while running", old);
            Command.of("chmod", "644", here).run().orFail();
            refuse(receiver, here, next, "holds a secret that others may read or replace: chmod 600", old + next);
            Command.of("chmod", "600", here).run().orFail();
            awaitCompared(receiver, 1);
            renew(sender, there, next + old, 1);
            awaitCompared(receiver, 1);
            assertEquals(1, count("exchange_sessions"), receiver::errors);
            renew(receiver, here, next, 2);
            await(receiver, "the shared key of this session is no longer valid");
            renew(sender, there, next, 2);
            awaitCompared(receiver, 2);
            assertEquals(2, count("exchange_sessions"), receiver::errors);
            sender.stop();
            receiver.stop();
        }
        final Stats stats = Stats.read(receiverStats).orFailUnlessAccounted();
        final Stats sent = Stats.read(senderStats);
        final long made = sent.delayCounter("exchange_intervals_offered");
        final long taken = stats.delayCounter("exchange_intervals_complete") + stats.delayCounter("exchange_intervals_damaged");
        assertTrue(made > 0 && made - taken <= UNDER_WAY_AT_THE_END, () -> made + " made, " + taken + " taken: " + stats);
        assertEquals(0, stats.delayCounter("exchange_intervals_late"), stats::toString);
        assertEquals(0, stats.counter(CounterId.REFERENCES_BAD_MAC), stats::toString);
        assertTrue(stats.counter(CounterId.REFERENCE_PACKETS) > 0, stats::toString);
    }

    private void renew(final Command.Running run, final Path file, final String keys, final int reloads) throws IOException {
        Files.writeString(file, keys);
        run.signal("HUP");
        awaitReloads(run, reloads);
    }

    private void refuse(
        final Command.Running run, final Path file, final String content, final String fault, final String before)
        throws IOException {
        Files.writeString(file, content);
        run.signal("HUP");
        await(run, fault);
        Files.writeString(file, before);
    }

    private static void awaitReloads(final Command.Running run, final int count) {
        Deadline.await(TIMEOUT,
            () -> run.errors().lines().filter((line) -> line.contains(" reloaded: ")).count() == count || !run.isAlive(),
            run::errors);
        assertTrue(run.isAlive(), run::errors);
    }

    /** A certificate of another authority, and none at all. Each connection is refused once, for its certificate. */
    private void refuseAStranger(final Command.Running receiver) {
        final Object openssl = Tools.require("openssl", "openssl");
        Command.of(openssl, "s_client", "-connect", "127.0.0.1:" + port,
            "-cert", directory.resolve("stranger.pem"), "-key", directory.resolve("stranger.key")).run();
        await(receiver, ", ended_tls");
        Command.of(openssl, "s_client", "-connect", "127.0.0.1:" + port).run();
        Deadline.await(TIMEOUT, () -> count("exchange_ended_tls") == 2, receiver::errors);
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldMeasureOnWhateverOthersSay() throws Exception {
        final Path file = directory.resolve("receiver.yaml");
        write(file, "rows: 2, columns: 1k",
            ", key-file: " + key("shared", "00112233445566778899aabbccddeeff") + ", handshake-timeout: 3s");
        final List<SocketChannel> crowd = new ArrayList<>();
        try (Command.Running receiver = start(receiverStats, "-c", file, "--export", "file:" + records);
            Command.Running sender = start(senderStats,
                own("--set", "exchange.key-file=" + directory.resolve("shared")))) {
            Flowlag.awaitMetering(receiver, sender);
            awaitCompared(receiver, 2);

            say(header(VERSION + 8, 72));
            say(header(VERSION, Integer.MAX_VALUE));
            say(new byte[500]);
            final long before = count("exchange_ended_handshake");
            final SocketChannel slow = SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
            crowd.add(slow);
            slow.write(ByteBuffer.wrap(header(VERSION, 56), 0, HEADER_BYTES / 2));
            Deadline.await(TIMEOUT, () -> count("exchange_refused_version") == 1 && count("exchange_refused_length") == 1 &&
                count("exchange_refused_magic") == 1 && count("exchange_ended_handshake") > before, receiver::errors);

            trickle(receiver);
            final Path otherStats = directory.resolve("other.json");
            try (Command.Running other = start(otherStats,
                own("--set", "exchange.key-file=" + key("other", "ffeeddccbbaa99887766554433221100")))) {
                Deadline.await(TIMEOUT, () -> count("exchange_refused_authentication") >= 1, other::errors);
                await(other, "the shared keys differ");
                other.stop();
            }
            for (int i = 0; i < HOSTILE_CONNECTIONS; i++) {
                crowd.add(SocketChannel.open(new InetSocketAddress("127.0.0.1", port)));
            }
            Deadline.await(TIMEOUT, () -> count("exchange_ended_evicted") + count("exchange_ended_handshake") >= 100,
                receiver::errors);
            final long octets = count("exchange_octets_received");
            awaitCompared(receiver, 3);
            assertTrue(count("exchange_octets_received") > octets, "wire size is counted");
            assertTrue(count(senderStats, "exchange_encoding_ns") > 0, "and what it costs");
            sender.stop();
            receiver.stop();
        } finally {
            for (final SocketChannel each : crowd) {
                each.close();
            }
        }
        Stats.read(receiverStats).orFailUnlessAccounted();
    }

    /** One octet at a time of a HELLO, and then silence: the time for it runs from the start, however many octets come. */
    private void trickle(final Command.Running receiver) throws IOException {
        final long before = count("exchange_ended_handshake");
        final long compared = count("lds_intervals");
        final byte[] hello = header(VERSION, 56);
        final int[] said = new int[1];
        try (SocketChannel slow = SocketChannel.open(new InetSocketAddress("127.0.0.1", port))) {
            Deadline.await(TIMEOUT, () -> {
                if (said[0] < hello.length) {
                    say(slow, hello, said);
                }
                return count("exchange_ended_handshake") > before && count("lds_intervals") > compared;
            }, receiver::errors);
            assertTrue(said[0] > 1, "octets that were said: " + said[0]);
            // What the receiver said first, its HELLO, and its end.
            slow.socket().setSoTimeout((int)TIMEOUT.toMillis());
            slow.socket().getInputStream().readAllBytes();
        }
    }

    private static void say(final SocketChannel slow, final byte[] octets, final int[] said) {
        try {
            said[0] += slow.write(ByteBuffer.wrap(octets, said[0], 1));
        } catch (final IOException ex) {
            said[0] = octets.length;
        }
    }

    private static byte[] header(final int version, final int lengthBytes) {
        return ByteBuffer.allocate(HEADER_BYTES).order(ByteOrder.LITTLE_ENDIAN).put(new byte[] {'F', 'L', 'G', 'X'})
            .put((byte)version).put((byte)HELLO).putShort((short)0).putInt(lengthBytes).putInt(0).array();
    }

    /** Until the other end has ended the connection. */
    private void say(final byte[] octets) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", port)) {
            socket.getOutputStream().write(octets);
            socket.getInputStream().readAllBytes();
        }
    }

    private Path key(final String name, final String digits) throws IOException {
        final Path file = Files.writeString(directory.resolve(name), digits);
        Command.of("chmod", "600", file).run().orFail();
        return file;
    }

    private void write(final Path file, final String lds, final String exchange) throws IOException {
        final Path next = directory.resolve("next.yaml");
        final String tls = exchange.isEmpty() ? ", tls: {certificate: " + directory.resolve("receiver.pem") +
            ", key: " + directory.resolve("receiver.key") + ", trust: " + directory.resolve("ca.pem") +
            ", peers: [sender.test]}" : exchange;
        Files.writeString(next, "segment: {role: receiver, destination: [" + destination + "/32], offload: allow, " +
            "interval: 400ms, max-delay: 400ms}\n" +
            "lds: {" + lds + "}\nreconcile: {enabled: off}\n" +
            "exchange: {mode: sketch, deadline: 2s, listen: \"127.0.0.1:" + port + "\"" + tls + "}\n" +
            "capture: {interfaces: [lo], direction: in, filter: \"dst host " + destination + "\"}\n" +
            "rli: {port: " + referencePort + "}\nclock: {error: 1us}\n");
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private Object[] senderTls(final String name) {
        return new Object[] {
            "--set", "exchange.tls.certificate=" + directory.resolve(name + ".pem"),
            "--set", "exchange.tls.key=" + directory.resolve(name + ".key"),
            "--set", "exchange.tls.trust=" + directory.resolve("ca.pem")};
    }

    private Object[] own(final Object... credentials) {
        final List<Object> arguments = new ArrayList<>(List.of("-i", "lo", "--direction", "out",
            "--filter", "dst host " + destination, "--set", "segment.role=sender", "--set", "segment.offload=allow",
            "--set", "exchange.connect=127.0.0.1:" + port, "--set", "clock.error=1ms"));
        arguments.addAll(List.of(credentials));
        return arguments.toArray();
    }

    private Command.Running start(final Path stats, final Object... own) {
        final List<Object> arguments = new ArrayList<>(List.of("run"));
        arguments.addAll(List.of(own));
        arguments.addAll(List.of(
            "--stats", stats, "--set", "stats.interval=200ms", "--active", "5s", "--idle", "2s"));
        return new Flowlag().command(arguments.toArray()).timeout(TIMEOUT).start();
    }

    private void await(final Command.Running run, final String line) {
        Deadline.await(TIMEOUT, () -> run.errors().contains(line) || !run.isAlive(), run::errors);
        assertTrue(run.isAlive(), run::errors);
    }

    /** Waits until this many further intervals were compared. */
    private void awaitCompared(final Command.Running run, final long intervals) {
        final long before = count("lds_intervals");
        Deadline.await(TIMEOUT, () -> count("lds_intervals") >= before + intervals || !run.isAlive(),
            () -> run.errors() + text(receiverStats));
        assertTrue(run.isAlive(), run::errors);
    }

    private long count(final String label) {
        return count(receiverStats, label);
    }

    private static long count(final Path stats, final String label) {
        return Files.exists(stats) ? Stats.read(stats).delayCounter(label) : 0;
    }

    private static String text(final Path file) {
        try {
            return Files.exists(file) ? Files.readString(file) : "";
        } catch (final IOException ex) {
            return "";
        }
    }

    private void makeCertificates() throws IOException {
        makeAuthority("ca");
        makeAuthority("elsewhere");
        makeCertificate("receiver", "ca", "IP:127.0.0.1");
        makeCertificate("sender", "ca", "DNS:sender.test");
        makeCertificate("stranger", "elsewhere", "DNS:sender.test");
    }

    private void makeAuthority(final String name) {
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", name + ".key",
            "-out", name + ".pem", "-subj", "/CN=" + name);
    }

    private void makeCertificate(final String name, final String authority, final String subjectAltName) throws IOException {
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", name + ".key",
            "-out", name + ".csr", "-subj", "/CN=" + name);
        Files.writeString(directory.resolve(name + ".ext"), "subjectAltName=" + subjectAltName);
        openssl("x509", "-req", "-in", name + ".csr", "-CA", authority + ".pem", "-CAkey", authority + ".key",
            "-CAcreateserial", "-out", name + ".pem", "-extfile", name + ".ext");
        Command.of("chmod", "600", directory.resolve(name + ".key")).run().orFail();
    }

    private void openssl(final Object... arguments) {
        final Object[] line = new Object[arguments.length + 1];
        line[0] = Tools.require("openssl", "openssl");
        System.arraycopy(arguments, 0, line, 1, arguments.length);
        Command.of(line).directory(directory).run().orFail();
    }
}

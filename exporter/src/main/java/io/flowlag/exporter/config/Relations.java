package io.flowlag.exporter.config;

import io.flowlag.common.config.Problems;
import io.flowlag.common.file.FileAccess;
import io.flowlag.exporter.config.ExporterConfig.Transport;
import io.flowlag.ipfix.element.InformationElement;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import static io.flowlag.exporter.config.ConfigTable.*;

/** Checks relations between values, and between values and the machine. Every fault is added to the problems. */
final class Relations extends SettingsAccess {
    private static final long MAX_UDP_PAYLOAD_BYTES = 65507;
    /** Flows up to which all records may wait. */
    private static final long MOST_CUT_FLOWS = 4_000_000;

    private final DelayRelations delayRelations;
    private final List<DestinationSpec> destinations;

    Relations(final Map<ConfigKey<?>, Setting> settings, final List<DestinationSpec> destinations, final Problems problems) {
        super(settings, problems);
        delayRelations = new DelayRelations(settings, problems);
        this.destinations = destinations;
    }

    void check() {
        if (value(MEMORY) == null) {
            final long mebibytes = MemorySize.ofRun() >> 20;
            giveWay(MEMORY, mebibytes << 20, mebibytes + "m", "auto: of " + (MemorySize.ofHost() >> 20) + " MiB of this host");
        }
        notMore(IDLE_TIMEOUT, ACTIVE_TIMEOUT);
        notMore(TCP_END_TIMEOUT, IDLE_TIMEOUT);
        enterpriseNumber();
        delayRelations.check();
        cut();
        sampling();
        biflows();
        sharding();
        xdp();
        digest();
        tls();
        stats();
        status();
        messageSizes();
        spools();
    }

    private void spools() {
        for (final DestinationSpec spec : destinations) {
            final Setting setting = setting(spec, SPOOL);
            final Path directory = (Path)setting.value();
            if (directory != null && Files.exists(directory) && !Files.isDirectory(directory)) {
                problems().add(setting.origin(), SPOOL.path(), setting.text(), "is no directory: name one, or none");
            }
            final DestinationUri uri = spec.uri();
            if (directory != null && uri.transport() == Transport.FILE && Files.exists(uri.file()) &&
                !Files.isRegularFile(uri.file())) {
                problems().add(spec.origin(), DESTINATIONS.path(), uri.text(),
                    "is not a regular file, so records cannot be appended to it; add spool=none");
            }
        }
    }

    /** One duration must not exceed another: a default is lowered, a given value is refused. */
    private void notMore(final ConfigKey<Long> lesserKey, final ConfigKey<Long> greaterKey) {
        final Setting lesser = setting(lesserKey);
        final Setting greater = setting(greaterKey);
        if ((Long)lesser.value() <= (Long)greater.value()) {
            return;
        }
        if (lesser.origin().isDefault()) {
            final String note = "as low as " + greaterKey.path();
            giveWay(lesserKey, value(greaterKey), greater.text(), note);
        } else {
            problem(lesserKey, "is more than " + greaterKey.path() + "=" + greater.text() + ": lower this or raise that");
        }
    }

    /** With delay a record ends with an interval, so that its packets and its delays are of the same time. */
    private void cut() {
        final Long cutNs = value(CUT);
        if (cutNs == null) {
            return;
        }
        if (cutNs > value(ACTIVE_TIMEOUT) && isDefault(ACTIVE_TIMEOUT)) {
            giveWay(ACTIVE_TIMEOUT, cutNs, setting(CUT).text(), "as long as " + CUT.path());
        } else if (cutNs > value(ACTIVE_TIMEOUT)) {
            problem(CUT, "is more than " + ACTIVE_TIMEOUT.path() + "=" + setting(ACTIVE_TIMEOUT).text() +
                ", which would end records before: lower this or raise that");
        }
        final boolean isReceiver = value(ROLE).isReceiver();
        if (isReceiver && cutNs % value(SEGMENT_INTERVAL) != 0) {
            problem(CUT, "is no multiple of " + SEGMENT_INTERVAL.path() + "=" + setting(SEGMENT_INTERVAL).text() +
                ", with which delays end: change one of them");
        }
        final long flows = value(MAX_FLOWS);
        if (isReceiver && value(LDS_ENABLED) && isDefault(LDS_WAITING) && flows > value(LDS_WAITING) && flows <= MOST_CUT_FLOWS) {
            giveWay(LDS_WAITING, flows, Long.toString(flows), "as many as " + MAX_FLOWS.path() + ": a cut ends records together");
        }
    }

    /** What compares packets needs all of them. */
    private void sampling() {
        if (value(SAMPLING) > 1 && value(FOLLOW_TCP)) {
            problem(SAMPLING, "leaves out packets that " + FOLLOW_TCP.path() + " follows: set one of them alone");
        }
        for (final ConfigKey<Long> key : List.of(SAMPLING, SAMPLE_FLOWS)) {
            if (value(key) > 1 && value(ROLE) != ExporterConfig.Role.NONE) {
                problem(key, "leaves out packets that the delay of the others needs: leave it or segment.role out");
            }
        }
        if (value(SAMPLE_RANDOM) && value(SAMPLING) == 1) {
            problem(SAMPLE_RANDOM, "says how packets are left out, and none are: set " + SAMPLING.path() + " too");
        }
    }

    /** Both directions end together, in one cache. */
    private void biflows() {
        if (value(BIFLOW) && value(LDS_ENABLED) && value(ROLE).isReceiver()) {
            problem(BIFLOW, "joins records that end together, and with " + LDS_ENABLED.path() +
                " each waits for its interval: set one of them alone");
        }
        if (value(BIFLOW) && value(THREADING) == ExporterConfig.Threading.SHARDED) {
            problem(BIFLOW, "needs both directions in one cache, and threading is sharded: set one of them alone");
        }
    }

    private void enterpriseNumber() {
        final long number = value(ENTERPRISE_NUMBER);
        if (number == 0) {
            problem(ENTERPRISE_NUMBER, "0 stands for IANA's own elements: write your Private Enterprise Number");
        } else if (number == InformationElement.REVERSE_ENTERPRISE_NUMBER) {
            problem(ENTERPRISE_NUMBER, "29305 stands for reverse elements (RFC 5103): write your Private Enterprise Number");
        }
    }

    private void digest() {
        readable(DIGEST_KEY_FILE, true);
        readable(REFERENCE_KEY_FILE, true);
        for (final ExporterConfig.Sender sender : value(SENDERS)) {
            final String fault = sender.keyFile() == null ? null : FileAccess.fault(sender.keyFile(), true);
            if (fault != null) {
                problem(SENDERS, "session " + sender.session() + ": " + sender.keyFile() + " " + fault);
            }
        }
        readable(CLOCK_FILE, false);
    }

    private void sharding() {
        if (value(THREADING) != ExporterConfig.Threading.SHARDED) {
            if (value(SHARDS) != null) {
                problem(SHARDS, "is for threading sharded: set that, or leave this out");
            }
            return;
        }
        final Setting shards = setting(SHARDS);
        if (shards.value() == null) {
            final long count = Conclusion.automaticShards();
            replace(SHARDS, new Setting(
                count, Long.toString(count), shards.origin(), "auto: a processor less than there are, at least 2"));
        }
        shardedDelay();
        if (value(SOURCE) == ExporterConfig.SourceKind.PCAP || value(SOURCE) == ExporterConfig.SourceKind.XDP) {
            problem(THREADING, "needs the kernel to share packets out, and " + SOURCE.path() +
                " is " + setting(SOURCE).text() + ": set that to afpacket, or threading to pipelined or shared");
        }
    }

    private void xdp() {
        if (value(SOURCE) != ExporterConfig.SourceKind.XDP) {
            return;
        }
        if (value(DIRECTION) == ExporterConfig.Direction.OUT) {
            problem(DIRECTION, "is not seen by xdp, which has arriving packets only: set " + SOURCE.path() + " to afpacket");
        }
        if (value(ROLE) == ExporterConfig.Role.BOTH) {
            problem(SOURCE, "takes arriving packets from the host, which then forwards none between the two points: set it " +
                "to afpacket");
        }
    }

    /**
     * References come to every shard of a receiver, and the first of a sender sends them; cells of sketches add up. What needs
     * all packets in one place does not.
     */
    private void shardedDelay() {
        if (value(ROLE) == ExporterConfig.Role.NONE) {
            return;
        }
        final String wayOut = ": set threading to pipelined or shared, or leave ";
        final boolean isExchanged = value(EXCHANGE_LISTEN) != null || value(EXCHANGE_CONNECT) != null;
        if (value(ROLE) == ExporterConfig.Role.BOTH) {
            problem(THREADING, "measures delay at one point alone: the packets of two match in one table; segment.role is " +
                setting(ROLE).text() + wayOut + "the role out");
        } else if (isExchanged && (value(POLICY) == ExporterConfig.Policy.PASSIVE || !isDefault(PASSIVE_SHARE))) {
            problem(THREADING, "has each sampled packet in one shard alone, and they are to serve as references" + wayOut +
                POLICY.path() + " and " + PASSIVE_SHARE.path() + " out");
        } else if (isExchanged && value(RECONCILE_ENABLED)) {
            problem(RECONCILE_ENABLED, "needs the packets of an interval in one place, and threading is sharded: set it to " +
                "off, or threading to pipelined or shared");
        } else if (value(ESTIMATOR) == ExporterConfig.EstimatorKind.LEFT) {
            problem(ESTIMATOR, "does not wait for references that other shards receive: set it to linear, or threading to " +
                "pipelined or shared");
        }
    }

    private void tls() {
        readable(TLS_CERTIFICATE, false);
        readable(TLS_KEY, true);
        readable(TLS_TRUST, false);
        readable(EXCHANGE_KEY_FILE, true);
        readable(EXCHANGE_TLS_CERTIFICATE, false);
        readable(EXCHANGE_TLS_KEY, true);
        readable(EXCHANGE_TLS_TRUST, false);
        together(TLS_CERTIFICATE, TLS_KEY);
        together(TLS_KEY, TLS_CERTIFICATE);
        for (final DestinationSpec spec : destinations) {
            if (spec.uri().transport() == Transport.TLS) {
                needed(spec, TLS_CERTIFICATE);
                needed(spec, TLS_KEY);
                needed(spec, TLS_TRUST);
            }
        }
    }

    private void together(final ConfigKey<Path> given, final ConfigKey<Path> missing) {
        final boolean hasTlsDestination = destinations.stream().anyMatch((spec) -> spec.uri().transport() == Transport.TLS);
        if (!hasTlsDestination && value(given) != null && value(missing) == null) {
            problem(given, "is given without " + missing.path() + ": give both");
        }
    }

    private void needed(final DestinationSpec spec, final ConfigKey<Path> key) {
        if (value(key) == null) {
            problems().add(spec.origin(), DESTINATIONS.path(), spec.uri().text(), "tls needs " + key.path() +
                ": name a PEM file there");
        }
    }

    private void stats() {
        final Setting interval = setting(STATS_INTERVAL);
        final Path file = value(STATS_FILE);
        if (interval.value() != null && (file == null || "-".equals(file.toString()))) {
            problem(STATS_INTERVAL, "needs stats.file, the path of a file to write anew");
        }
    }

    private void status() {
        final Path file = value(STATUS_FILE);
        if (file != null && !value(STATUS_ENABLED)) {
            problem(STATUS_FILE, "is not written with status.enabled off: leave one out");
        } else if (file != null && "-".equals(file.toString())) {
            problem(STATUS_FILE, "must be a file: name one, or auto");
        }
    }

    private void messageSizes() {
        for (final DestinationSpec spec : destinations) {
            final Setting setting = setting(spec, MAX_MESSAGE_SIZE);
            if (spec.uri().transport() == Transport.UDP && setting.value() != null &&
                (Long)setting.value() > MAX_UDP_PAYLOAD_BYTES) {
                problems().add(setting.origin(), MAX_MESSAGE_SIZE.path(), setting.text(), "no UDP datagram holds that (" +
                    spec.uri().text() + "): " + MAX_UDP_PAYLOAD_BYTES + " or less, and 1400 to pass without fragments");
            }
        }
    }

    private void readable(final ConfigKey<Path> key, final boolean isSecret) {
        final Path file = value(key);
        final String fault = file == null ? null : FileAccess.fault(file, isSecret);
        if (fault != null) {
            problem(key, fault);
        }
    }
}

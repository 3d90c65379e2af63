package io.flowlag.exporter.runtime;

import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.capture.LiveCaptureOptions;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.capture.live.LiveCapture;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.config.ExporterConfig.Threading;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.ReceiverLink;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.delay.ReferenceTransmitter;
import io.flowlag.exporter.exchange.link.ExchangeEnd;
import io.flowlag.exporter.exchange.link.ProcessEnds;
import io.flowlag.exporter.export.DestinationFactory;
import io.flowlag.exporter.reference.StampPoint;
import io.flowlag.exporter.reference.TransmitterOptions;
import io.flowlag.exporter.reference.UdpReferenceTransmitter;
import io.flowlag.exporter.status.ClockEstimate;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.StageErrors;
import io.flowlag.exporter.terminal.Logging;
import io.flowlag.exporter.terminal.Signals;
import io.flowlag.exporter.terminal.Terminal;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.AgentRunner;

import java.net.InetAddress;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Scanner;

/**
 * The process of one of several hosts, live, with a clock that is ahead of the system's, drifts and may be set: the stages of
 * the program on its threads, capture, references and the exchange. Standard output has the true time of each packet of a
 * measured flow ({@code packet,SOURCE,PORT,NUMBER,NS}), and each second the estimates of the other host's clock ({@code
 * clock,SEGMENT,NS,OFFSET,BOUND,TRUTH}). A number on standard input sets the clock by so many ns, signed.
 */
public final class ShiftedPoint {
    private static final int ARGUMENTS = 7;
    private static final int WRONG_COMMAND_LINE = 64;
    private static final int UDP_PAYLOAD = 14 + 20 + 8;
    private static final int SOURCE_ADDRESS = 14 + 12;
    private static final int SOURCE_PORT = 14 + 20;
    private static final long NS_PER_S = 1_000_000_000L;
    /** All packets from before it have been read then. */
    private static final long STEP_LEAD_NS = 100_000_000;

    private final CaptureClock system = RealtimeClock.ofSystem();
    private final ReplayedClock own;
    private final ReplayedClock other;
    private final int measuredPort;
    private final Counters counters = new Counters();
    private final Terminal terminal = Terminal.system();
    private final StringBuilder seen = new StringBuilder();
    private final List<ExchangeEnd> ends = new ArrayList<>();
    private long nextNs;

    private ShiftedPoint(final ReplayedClock own, final ReplayedClock other, final int measuredPort) {
        this.own = own;
        this.other = other;
        this.measuredPort = measuredPort;
    }

    /**
     * Meters an interface until a signal ends it.
     *
     * @param arguments configuration file, interface, when the clocks begin in ns since the epoch; of this host's clock and of
     *                  the other's by how much it is ahead in ns at that time, a comma, and its drift in ns a second; port of
     *                  the packets to be printed; records.
     * @throws Exception if it cannot be run.
     */
    public static void main(final String[] arguments) throws Exception {
        if (arguments.length != ARGUMENTS) {
            System.err.println("shifted: needs CONFIGURATION INTERFACE BEGIN_NS AHEAD_NS,DRIFT_PPB OTHER'S PORT RECORDS");
            System.exit(WRONG_COMMAND_LINE);
        }
        final long beginNs = Long.parseLong(arguments[2]);
        final ExporterConfig config = new ConfigLoader().text(arguments[0], Files.readString(Path.of(arguments[0])) +
            "\nexporting: {destinations: ['file:" + arguments[6] + "']}\n").conclude();
        System.exit(new ShiftedPoint(clock(beginNs, arguments[3]), clock(beginNs, arguments[4]), Integer.parseInt(arguments[5]))
            .run(config.withThreading(Threading.PIPELINED), arguments[1]));
    }

    private static ReplayedClock clock(final long beginNs, final String aheadAndDrift) {
        final String[] parts = aheadAndDrift.split(",");
        return new ReplayedClock(beginNs, Long.parseLong(parts[0]), Long.parseLong(parts[1]), 0, 0);
    }

    private void step() {
        try (Scanner input = new Scanner(System.in)) {
            while (input.hasNextLong()) {
                own.step(system.nanoTime() + STEP_LEAD_NS, input.nextLong());
            }
        }
    }

    private int run(final ExporterConfig config, final String interfaceName) throws Exception {
        final Thread steps = new Thread(this::step);
        steps.setDaemon(true);
        steps.start();
        Logging.configure(config.log().level().name(), config.log().file(), terminal);
        final CaptureClock clock = new CaptureClock() {
            @Override
            public long nanoTime() {
                return own.stampNs(system.nanoTime());
            }

            @Override
            public long monotonicNs() {
                return System.nanoTime();
            }
        };
        final ProcessEnds shared = new ProcessEnds(clock, config.segments().size() > 1);
        final List<DelayWiring> wirings = new ArrayList<>();
        for (final ExporterConfig each : config.segments()) {
            ends.add(ExchangeEnd.open(each, ClockError.fixed(-1), shared));
            wirings.add(wiring(each));
        }
        final PacketSource source = new ShiftedSource(LiveCapture.open(
            LiveCaptureOptions.of(interfaceName).withSnapLengthBytes(config.capture().snapLengthBytes())
                .withDirection(LiveCaptureOptions.Direction.BOTH).withFilterExpression(config.capture().filter())));
        final DestinationFactory factory = new DestinationFactory(false, new boolean[1], Map.of(), counters);
        final Signals signals = Signals.install(Signals.HangUp.STOPS);
        final StageErrors errors = new StageErrors();
        final List<AgentRunner> runners = ends.stream().map((each) -> each.start(errors)).toList();
        final MeteringPipeline pipeline = new MeteringPipeline(
            config, List.of(source), clock, wirings, List.of(), new Destinations(factory).of(config), counters, errors);
        try (PipelineRun run = new PipelineRun(config, pipeline, errors, signals, terminal)) {
            factory.delay(run.delayStages());
            run.onHousekeeping(this::tell);
            run.run();
            run.writeStatistics();
            return run.exitCode().number();
        } finally {
            runners.forEach(CloseHelper::quietClose);
            flush();
        }
    }

    private DelayWiring wiring(final ExporterConfig segment) throws Exception {
        final Role role = segment.segment().role();
        final ReferenceTransmitter transmitter = role == Role.RECEIVER ? null : new ShiftedTransmitter(
            UdpReferenceTransmitter.open(new TransmitterOptions(
                InetAddress.getByName(segment.rli().references().target()), segment.rli().references().port(), null, null,
                new int[1], StampPoint.AFTER_QUEUE)));
        return new DelayWiring(
            role, new DelayWiring.References(ReferenceMode.SENT, ReferenceSessions.of(segment.rli()), transmitter),
            ClockError.fixed(-1), true, false, false, segment.lds().enabled()).withLink(ends.get(ends.size() - 1).link());
    }

    private void tell() {
        final long nowNs = system.nanoTime();
        if (nowNs >= nextNs) {
            nextNs = nowNs + NS_PER_S;
            for (int i = 0; i < ends.size(); i++) {
                if (ends.get(i).link() instanceof ReceiverLink receiver && receiver.clock(0).isKnown()) {
                    final ClockEstimate estimate = receiver.clock(0);
                    System.out.printf(Locale.ROOT, "clock,%d,%d,%d,%d,%d%n", i, estimate.timeNs(), estimate.offsetNs(),
                        estimate.boundNs(), own.stampNs(nowNs) - other.stampNs(nowNs) +
                        Math.round(estimate.drift() * (estimate.timeNs() - own.stampNs(nowNs))));
                }
            }
            System.out.flush();
        }
    }

    private void flush() {
        synchronized (seen) {
            System.out.print(seen);
            System.out.flush();
        }
    }

    /** Packets of an interface with the times of the shifted clock. */
    private final class ShiftedSource implements PacketSource {
        private final PacketSource live;

        private ShiftedSource(final PacketSource live) {
            this.live = live;
        }

        @Override
        public int poll(final PacketHandler handler, final int packetLimit) {
            return live.poll((packet) -> {
                final DirectBuffer octets = packet.buffer();
                final int at = packet.offset();
                if (packet.capturedLengthBytes() >= UDP_PAYLOAD + Long.BYTES &&
                    Short.toUnsignedInt(octets.getShort(at + SOURCE_PORT + 2, ByteOrder.BIG_ENDIAN)) == measuredPort) {
                    synchronized (seen) {
                        seen.append("packet,").append(octets.getByte(at + SOURCE_ADDRESS + 3)).append(',')
                            .append(Short.toUnsignedInt(octets.getShort(at + SOURCE_PORT, ByteOrder.BIG_ENDIAN))).append(',')
                            .append(octets.getLong(at + UDP_PAYLOAD, ByteOrder.BIG_ENDIAN)).append(',')
                            .append(packet.timestampNs()).append('\n');
                    }
                }
                packet.timestampNs(own.stampNs(packet.timestampNs()));
                handler.onPacket(packet);
            }, packetLimit);
        }

        @Override
        public String name() {
            return live.name();
        }

        @Override
        public long capturedCount() {
            return live.capturedCount();
        }

        @Override
        public long kernelDropCount() {
            return live.kernelDropCount();
        }

        @Override
        public void updateKernelDropCount() {
            live.updateKernelDropCount();
        }

        @Override
        public void close() {
            live.close();
        }
    }

    /** References whose times of sending are those of the shifted clock. */
    private final class ShiftedTransmitter implements ReferenceTransmitter {
        private final ReferenceTransmitter sent;

        private ShiftedTransmitter(final ReferenceTransmitter sent) {
            this.sent = sent;
        }

        @Override
        public boolean send(final int streamIndex, final DirectBuffer buffer, final int offset, final int lengthBytes) {
            return sent.send(streamIndex, buffer, offset, lengthBytes);
        }

        @Override
        public int poll(final SendTimeHandler handler, final int limit) {
            return sent.poll((stream, number, sentNs, method) ->
                handler.onSendTime(stream, number, own.stampNs(sentNs), method), limit);
        }

        @Override
        public InetAddress target() {
            return sent.target();
        }

        @Override
        public void close() {
            sent.close();
        }
    }
}

package io.flowlag.exporter.exchange.link;

import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.decode.FlowKeyLayout;
import io.flowlag.exporter.delay.interval.records.FlowSums;
import io.flowlag.exporter.exchange.wire.ExchangeHeader;
import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.AdaptiveRates;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.AddressPrefix;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Content;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Injection;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Mode;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Policy;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Secrets;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Selector;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.SketchPart;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Traffic;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.WeightRule;
import io.flowlag.exporter.exchange.wire.FlowSum;
import io.flowlag.exporter.exchange.wire.IntervalVerdict;
import io.flowlag.exporter.exchange.wire.MessageType;
import io.flowlag.exporter.exchange.wire.PointDrops;
import io.flowlag.exporter.runtime.FreePorts;
import io.flowlag.ipfix.transport.Endpoint;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.image.SketchImage;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
import org.agrona.CloseHelper;
import org.agrona.concurrent.CachedNanoClock;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

import static org.junit.jupiter.api.Assertions.fail;

/** Ends of the exchange on one thread with one settable clock, joined in memory, and what they said. */
public final class ExchangeFixture implements AutoCloseable {
    static final long SECOND_NS = 1_000_000_000L;
    public static final long SEED = 0x5eed_5eed_5eed_5eedL;
    public static final Secrets SECRETS = new Secrets(0x0123_4567_89ab_cdefL, 0xfedc_ba98_7654_3210L, SEED);
    public static final SketchGeometry LDS = SketchGeometry.lds(2, 2000, 1);
    public static final Traffic ALL_TRAFFIC =
        new Traffic(new Selector(List.of(), List.of(), ExchangeSettings.ANY), List.of(), List.of());
    private static final int MOST_DIGESTS = 100_000;
    private static final int MOST_WITNESSES = 2000;
    private static final long LEAST_TURN_NS = 1_000_000;
    private static final long PATIENCE_NS = 120 * SECOND_NS;

    final CachedNanoClock clock = new CachedNanoClock();
    final MemoryNetwork memory = new MemoryNetwork(clock);
    final List<AutoCloseable> owned = new ArrayList<>();
    private final Network network;
    private final List<Runnable> duties = new ArrayList<>();
    private final Map<ExchangeListener, InetSocketAddress> addresses = new HashMap<>();
    private int nextPort = 8621;

    /** Ends that are joined in memory. */
    ExchangeFixture() {
        this(null);
    }

    /** Ends that are joined by a network; null for the one in memory. */
    ExchangeFixture(final Network network) {
        this.network = network == null ? memory : network;
        clock.update(1);
    }

    /** What a receiver has heard, copied. */
    static final class Received implements ReceiverHandler {
        final List<Long> intervals = new ArrayList<>();
        final List<Long> senders = new ArrayList<>();
        final List<byte[]> images = new ArrayList<>();
        final List<Boolean> damaged = new ArrayList<>();
        final List<Integer> settingsNumbers = new ArrayList<>();
        final List<Long> digests = new ArrayList<>();
        final List<Long> flowPackets = new ArrayList<>();
        final List<Long> witnessPackets = new ArrayList<>();
        final List<Long> missing = new ArrayList<>();
        final List<Long> sendTimeKeys = new ArrayList<>();
        final List<Long> sendTimesNs = new ArrayList<>();
        final List<Integer> held = new ArrayList<>();
        final List<String> ends = new ArrayList<>();
        final List<String> turnedAway = new ArrayList<>();
        final ExchangeCounters ofSender = new ExchangeCounters();
        BiFunction<ExchangeSettings, Long, ExchangeSettings> variant = (common, pointId) -> common;
        final List<Long> senderTimesNs = new ArrayList<>();
        int sessions;

        @Override
        public void onTimes(
            final long pointId, final long askedNs, final long receivedNs, final long answeredNs, final long returnedNs) {
            senderTimesNs.add(receivedNs);
            senderTimesNs.add(answeredNs);
        }

        @Override
        public ExchangeSettings settings(final ExchangeSettings common, final long pointId) {
            return variant.apply(common, pointId);
        }

        @Override
        public ExchangeCounters counters(final long pointId) {
            return ofSender;
        }

        @Override
        public void onTurnedAway(final String address, final ExchangeCounter how, final String text) {
            turnedAway.add(address + " " + how.label() + " " + text);
        }

        @Override
        public ReceivedInterval room(final ExchangeSettings settings) {
            return ExchangeFixture.room(settings);
        }

        @Override
        public ReceivedInterval onInterval(final long pointId, final ReceivedInterval interval) {
            intervals.add(interval.intervalNumber());
            senders.add(pointId);
            damaged.add(interval.isDamaged());
            settingsNumbers.add(interval.settings().number());
            for (int i = 0; interval.hasSketches() && i < interval.settings().sketchCount(); i++) {
                final SketchImage sketch = i == 0 ? interval.sketch() : interval.aggregator(i - 1);
                final byte[] image = new byte[sketch.length()];
                sketch.buffer().getBytes(0, image);
                images.add(image);
            }
            for (int i = 0; i < interval.inFlightCount(); i++) {
                digests.add(interval.inFlight(i));
            }
            addPackets(interval.flows(), flowPackets);
            addPackets(interval.witnesses(), witnessPackets);
            return interval;
        }

        private static void addPackets(final FlowSums table, final List<Long> packets) {
            for (int row = 0; table != null && row < table.count(); row++) {
                packets.add(table.packets(row));
            }
        }

        @Override
        public void onMissing(final long pointId, final long intervalNumber) {
            missing.add(intervalNumber);
        }

        @Override
        public void onSendTime(
            final long pointId, final boolean isPassive, final long key, final long sentNs, final int methodCode) {
            sendTimeKeys.add(key);
            sendTimesNs.add(sentNs);
        }

        @Override
        public void onSettingsHeld(final long pointId, final int settingsNumber) {
            held.add(settingsNumber);
        }

        @Override
        public void onSession(final long pointId, final boolean isConnected, final String text) {
            if (isConnected) {
                sessions++;
            } else {
                ends.add(text);
            }
        }
    }

    /** What a sender has heard. */
    static final class Heard implements SenderHandler {
        final List<HeldSettings> settings = new ArrayList<>();
        final List<String> refusals = new ArrayList<>();
        final List<Long> answered = new ArrayList<>();
        final List<IntervalVerdict> verdicts = new ArrayList<>();
        final List<String> ends = new ArrayList<>();
        int sessions;

        @Override
        public void onSettings(final HeldSettings held) {
            settings.add(held);
        }

        @Override
        public void onRefused(final String reason, final String text) {
            refusals.add(reason + ": " + text);
        }

        @Override
        public void onAnswer(final long intervalNumber, final IntervalVerdict verdict) {
            answered.add(intervalNumber);
            verdicts.add(verdict);
        }

        @Override
        public void onSession(final boolean isConnected, final String text) {
            if (isConnected) {
                sessions++;
            } else {
                ends.add(text);
            }
        }
    }

    /** A listener; port 0 is one that is free. */
    ExchangeListener listener(final Received received, final int port, final Consumer<ListenerSetup> change)
        throws IOException {
        final int bound = port > 0 ? port : network == memory ? nextPort++ : FreePorts.tcp();
        final ListenerSetup context =
            new ListenerSetup(network, new InetSocketAddress("127.0.0.1", bound), received, clock, 0);
        change.accept(context);
        final ExchangeListener listener = context.listener();
        addresses.put(listener, context.address());
        owned.add(listener);
        duty(listener::doWork);
        return listener;
    }

    InetSocketAddress address(final ExchangeListener listener) {
        return addresses.get(listener);
    }

    int port(final ExchangeListener listener) {
        return address(listener).getPort();
    }

    static ConnectionLimits limits(final long lingerNs) {
        return new ConnectionLimits(
            10 * SECOND_NS, 10 * SECOND_NS, 30 * SECOND_NS, 256 * 1024, ExchangeHeader.MAX_MESSAGE_BYTES, lingerNs);
    }

    ExchangeListener listener(final Received received) throws IOException {
        return listener(received, 0, context -> {
        });
    }

    ExchangeConnector connector(final Heard heard, final int port, final Consumer<ConnectorSetup> change) {
        final ConnectorSetup context = new ConnectorSetup(network, new Endpoint("127.0.0.1", port), heard, clock, 0);
        change.accept(context);
        final ExchangeConnector connector = context.connector();
        owned.add(connector);
        duty(connector::doWork);
        return connector;
    }

    ExchangeConnector connector(final Heard heard, final int port) {
        return connector(heard, port, context -> {
        });
    }

    void duty(final Runnable duty) {
        duties.add(duty);
    }

    /** Turns every duty cycle once. */
    void turn() {
        duties.forEach(Runnable::run);
    }

    /** Turns until something holds. */
    void until(final String what, final BooleanSupplier holds) {
        final long startNs = SystemNanoClock.INSTANCE.nanoTime();
        while (!holds.getAsBoolean()) {
            turn();
            Thread.yield();
            if (SystemNanoClock.INSTANCE.nanoTime() - startNs > PATIENCE_NS) {
                fail("not in time: " + what);
            }
        }
    }

    /**
     * As {@link #until}, while the ends' time goes on by a step for each turn. Over TCP it goes no faster than a step each
     * millisecond, so that the kernel has time to bring octets over before the ends lose patience.
     */
    void untilWithTime(final String what, final long stepNs, final BooleanSupplier holds) {
        final long[] steppedNs = {SystemNanoClock.INSTANCE.nanoTime()};
        until(what, () -> {
            final long nowNs = SystemNanoClock.INSTANCE.nanoTime();
            if (network == memory || nowNs - steppedNs[0] >= LEAST_TURN_NS) {
                steppedNs[0] = nowNs;
                clock.advance(stepNs);
            }
            return holds.getAsBoolean();
        });
    }

    public static ExchangeSettings settings(final int number, final long fromInterval) {
        return new ExchangeSettings(number, fromInterval, SECOND_NS, 200_000_000, new Content(Mode.CELLS, 10_000, 0), SECRETS,
            ALL_TRAFFIC, Injection.NONE, List.of(new SketchPart(ExchangeSettings.ANY, LDS)));
    }

    /** The same settings for intervals of another length. */
    public static ExchangeSettings withInterval(final ExchangeSettings settings, final long intervalNs) {
        return new ExchangeSettings(settings.number(), settings.fromInterval(), intervalNs, settings.maxDelayNs(),
            settings.content(), settings.secrets(), settings.traffic(), settings.injection(), settings.sketches());
    }

    /** Room for an interval of a test. */
    public static ReceivedInterval room(final ExchangeSettings settings) {
        return new ReceivedInterval(settings, new SipHash(1, 2), MOST_DIGESTS, MOST_WITNESSES);
    }

    /** Digests as IN_FLIGHT has them. */
    public static UnsafeBuffer digests(final long... digests) {
        final UnsafeBuffer octets = new UnsafeBuffer(new byte[digests.length * Long.BYTES]);
        for (int i = 0; i < digests.length; i++) {
            octets.putLong(i * Long.BYTES, digests[i], ByteOrder.LITTLE_ENDIAN);
        }
        return octets;
    }

    /** A key from addresses of 4 or 16 octets. */
    public static UnsafeBuffer key(
        final byte[] source, final byte[] destination, final int protocol, final int sourcePort, final int destinationPort) {
        final UnsafeBuffer key = new UnsafeBuffer(new byte[FlowKeyLayout.KEY_LENGTH_BYTES]);
        FlowKeyLayout.ipVersion(key, 0, source.length == 4 ? 4 : 6);
        FlowKeyLayout.sourceHigh(key, 0, source.length == 4 ? 0 : word(source, 0));
        FlowKeyLayout.sourceLow(key, 0, source.length == 4 ? word(source, 0) >>> 32 : word(source, 8));
        FlowKeyLayout.destinationHigh(key, 0, source.length == 4 ? 0 : word(destination, 0));
        FlowKeyLayout.destinationLow(key, 0, source.length == 4 ? word(destination, 0) >>> 32 : word(destination, 8));
        FlowKeyLayout.protocol(key, 0, protocol);
        FlowKeyLayout.sourcePort(key, 0, sourcePort);
        FlowKeyLayout.destinationPort(key, 0, destinationPort);
        return key;
    }

    /** Eight octets as a number; an address of four is its first half. */
    private static long word(final byte[] address, final int offset) {
        return ByteBuffer.wrap(Arrays.copyOfRange(address, offset, offset + 8)).getLong();
    }

    /** Writes a flow as FLOW_SUMS and WITNESS have it. */
    public static void encodeFlow(
        final UnsafeBuffer buffer, final int offset, final UnsafeBuffer key, final long packets, final long timestampSumNs,
        final long digestSum, final long bytes) {
        final FlowSums table = FlowSums.ofAll(1);
        final int row = table.put(1, packets, timestampSumNs, digestSum, bytes);
        table.key(row, key, 0);
        FlowSum.encode(buffer, offset, table, row);
    }

    /** Flows from 0.0.0.1 on, each with one packet more than the one before it. */
    static UnsafeBuffer flows(final int count) {
        final UnsafeBuffer flows = new UnsafeBuffer(new byte[count * FlowSum.LENGTH_BYTES]);
        final FlowSums table = FlowSums.ofAll(count);
        for (int i = 1; i <= count; i++) {
            final int row = table.put((long)i << Integer.SIZE, i, 0, 0, 0);
            table.key(row, key(ByteBuffer.allocate(4).putInt(i).array(), new byte[4], 6, 1, 2), 0);
            FlowSum.encode(flows, row * FlowSum.LENGTH_BYTES, table, row);
        }
        return flows;
    }

    /** A flow over IPv4 and one over IPv6. */
    public static UnsafeBuffer twoFlows() {
        final UnsafeBuffer flows = new UnsafeBuffer(new byte[2 * FlowSum.LENGTH_BYTES]);
        encodeFlow(flows, 0, key(new byte[] {1, 2, 3, 4}, new byte[] {5, 6, 7, 8}, 6, 1, 2), 17, 18, 19, 20);
        encodeFlow(flows, FlowSum.LENGTH_BYTES, key(new byte[16], new byte[16], 17, 3, 4), 27, 28, 29, 30);
        return flows;
    }

    /** Settings with something in every list. */
    public static ExchangeSettings fullSettings() {
        final AddressPrefix four = new AddressPrefix(4, 24, 0, 0xc0000200L);
        final AddressPrefix six = new AddressPrefix(6, 32, 0x2001_0db8_0000_0000L, 0);
        return new ExchangeSettings(7, -12, SECOND_NS, 200_000_000, new Content(Mode.AUTO, 10_000, 54_321), SECRETS,
            new Traffic(new Selector(List.of(four, six), List.of(six), 100), List.of(0, 46),
                List.of(new WeightRule(four, null, 0, 65_535, 443, 443, 6, ExchangeSettings.ANY, 100),
                    new WeightRule(null, six, 1024, 2048, 0, 65_535, ExchangeSettings.ANY, 46, 25))),
            new Injection(Policy.ADAPTIVE, 100, 1_000_000, new AdaptiveRates(600_000, 850_000, 300, 10), 100_000_000, 1_000_000,
                40_000_000, 5000),
            List.of(new SketchPart(ExchangeSettings.ANY, SketchGeometry.lds(4, 17_500, 5, 1_000_000, 500_000, 100_000, 10_000)),
                new SketchPart(0, SketchGeometry.lda(512, 0, 4, 9)), new SketchPart(1, SketchGeometry.sds(3, 100))));
    }

    /** A sketch with some packets. */
    public static LossyDifferenceSketch sketch(final long interval, final SketchGeometry geometry, final int packets) {
        final LossyDifferenceSketch sketch = new LossyDifferenceSketch(geometry, SEED);
        sketch.begin(interval, SECOND_NS);
        final SplittableRandom random = new SplittableRandom(interval);
        for (int i = 0; i < packets; i++) {
            sketch.update(random.nextLong(), random.nextLong(), random.nextLong(SECOND_NS), 1500, 1);
        }
        return sketch;
    }

    /** An interval as a sender ships it, after the settings that hold for it. */
    static EncodedInterval interval(final ExchangeConnector connector, final long number, final PointDrops drops) {
        final LossyDifferenceSketch sketch = sketch(number, LDS, 1000);
        return new IntervalEncoder(SystemNanoClock.INSTANCE, connector.counters())
            .begin(number, connector.schedule().at(number, SECOND_NS), drops).sketch(sketch.image())
            .list(MessageType.IN_FLIGHT, digests(number, number + 1, number + 2), 3)
            .list(MessageType.WITNESS, twoFlows(), 2).end();
    }

    static EncodedInterval interval(final ExchangeConnector connector, final long number) {
        return interval(connector, number, PointDrops.NONE);
    }

    @Override
    public void close() {
        duties.clear();
        CloseHelper.quietCloseAll(owned);
    }
}

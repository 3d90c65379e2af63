package io.flowlag.exporter.exchange.wire;

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
import io.flowlag.sketch.image.SketchFamily;
import io.flowlag.sketch.image.SketchGeometry;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

import static io.flowlag.exporter.exchange.wire.ExchangeHeader.BYTE_ORDER;

/**
 * SETTINGS: what the receiver hands out.
 * <pre>
 *   0  number              4   at least 1
 *   4  mode                1   0 cells, 1 flows, 2 auto
 *   5  policy              1   0 the sender's own, 1 adaptive, 2 every-n, 3 every-interval, 4 combined, 5 passive
 *   6  reserved            2   0
 *   8  receiverInstance    8
 *  16  fromInterval        8   signed
 *  24  intervalNs          8   at least 1
 *  32  maxDelayNs          8   not negative
 *  40  digestKey          16   two numbers; hidden in a keyed session
 *  56  sketchSeed          8   hidden in a keyed session
 *  64  everyIntervalNs     8   not negative, like the next three
 *  72  maxGapNs            8
 *  80  ceilingBps          8
 *  88  capacityBps         8
 *  96  everyN              4   not negative, like the next two
 * 100  minRate             4
 * 104  maxRate             4
 * 108  minUtilizationPpm   4   0-1000000, like the next three
 * 112  maxUtilizationPpm   4
 * 116  passivePpm          4
 * 120  witnessPpm          4
 * 124  vlan                4   0-4094, -1 any
 * 128  sourceCount         2   0-64
 * 130  destinationCount    2   0-64
 * 132  classCount          2   0-64
 * 134  sketchCount         2   0-65
 * 136  weightCount         2   0-256
 * 138  reserved            2   0
 * 140  mostFlows           4   not negative
 * 144  sources, destinations (20 each), classes (4 each), sketches (84 each), weights (56 each)
 *
 * prefix                           sketch                             weight
 *   0  family      1  4 or 6;        0  family      4  1, 2 or 3        0  source            20  prefix
 *                     0 any in       4  classIndex  4  -1 all          20  destination       20  prefix
 *                     a weight       8  rows        4                  40  sourcePorts        4  first, last
 *   1  lengthBits  1                12  columns     4                  44  destinationPorts   4  first, last
 *   2  reserved    2  0             16  vldaLength  4                  48  protocol           2  -1 any
 *   4  address    16  two numbers,  20  rates      64  16 of 4;        50  dscp               2  -1 any
 *                     high and low;                    0 if unused     52  weight             4  at least 1
 * </pre>
 */
public final class SettingsMessage extends MessageFlyweight<SettingsMessage> {
    static final int SECRETS_BYTES = 24;
    private static final int NUMBER_OFFSET = 0;
    private static final int MODE_OFFSET = NUMBER_OFFSET + 4;
    private static final int POLICY_OFFSET = MODE_OFFSET + 1;
    private static final int RESERVED_SHORT_OFFSET = POLICY_OFFSET + 1;
    private static final int INSTANCE_OFFSET = RESERVED_SHORT_OFFSET + 2;
    private static final int FROM_OFFSET = INSTANCE_OFFSET + 8;
    private static final int INTERVAL_NS_OFFSET = FROM_OFFSET + 8;
    private static final int MAX_DELAY_OFFSET = INTERVAL_NS_OFFSET + 8;
    private static final int SECRETS_OFFSET = MAX_DELAY_OFFSET + 8;
    private static final int EVERY_INTERVAL_OFFSET = SECRETS_OFFSET + SECRETS_BYTES;
    private static final int MAX_GAP_OFFSET = EVERY_INTERVAL_OFFSET + 8;
    private static final int CEILING_OFFSET = MAX_GAP_OFFSET + 8;
    private static final int CAPACITY_OFFSET = CEILING_OFFSET + 8;
    private static final int EVERY_N_OFFSET = CAPACITY_OFFSET + 8;
    private static final int MIN_RATE_OFFSET = EVERY_N_OFFSET + 4;
    private static final int MAX_RATE_OFFSET = MIN_RATE_OFFSET + 4;
    private static final int MIN_UTILIZATION_OFFSET = MAX_RATE_OFFSET + 4;
    private static final int MAX_UTILIZATION_OFFSET = MIN_UTILIZATION_OFFSET + 4;
    private static final int PASSIVE_OFFSET = MAX_UTILIZATION_OFFSET + 4;
    private static final int WITNESS_OFFSET = PASSIVE_OFFSET + 4;
    private static final int VLAN_OFFSET = WITNESS_OFFSET + 4;
    private static final int SOURCES_OFFSET = VLAN_OFFSET + 4;
    private static final int DESTINATIONS_OFFSET = SOURCES_OFFSET + 2;
    private static final int CLASSES_OFFSET = DESTINATIONS_OFFSET + 2;
    private static final int SKETCHES_OFFSET = CLASSES_OFFSET + 2;
    private static final int WEIGHTS_OFFSET = SKETCHES_OFFSET + 2;
    private static final int RESERVED_COUNT_OFFSET = WEIGHTS_OFFSET + 2;
    private static final int MOST_FLOWS_OFFSET = RESERVED_COUNT_OFFSET + 2;
    private static final int LISTS_OFFSET = MOST_FLOWS_OFFSET + 4;
    private static final int PREFIX_BYTES = 20;
    private static final int PREFIX_LENGTH_OFFSET = 1;
    private static final int PREFIX_RESERVED_OFFSET = 2;
    private static final int PREFIX_HIGH_OFFSET = 4;
    private static final int PREFIX_LOW_OFFSET = PREFIX_HIGH_OFFSET + 8;
    private static final int CLASS_BYTES = 4;
    private static final int SKETCH_CLASS_OFFSET = 4;
    private static final int SKETCH_ROWS_OFFSET = SKETCH_CLASS_OFFSET + 4;
    private static final int SKETCH_COLUMNS_OFFSET = SKETCH_ROWS_OFFSET + 4;
    private static final int SKETCH_VLDA_OFFSET = SKETCH_COLUMNS_OFFSET + 4;
    private static final int SKETCH_RATES_OFFSET = SKETCH_VLDA_OFFSET + 4;
    private static final int SKETCH_BYTES = SKETCH_RATES_OFFSET + 4 * SketchGeometry.MAX_ROWS;
    private static final int WEIGHT_DESTINATION_OFFSET = PREFIX_BYTES;
    private static final int WEIGHT_PORTS_OFFSET = WEIGHT_DESTINATION_OFFSET + PREFIX_BYTES;
    private static final int WEIGHT_PROTOCOL_OFFSET = WEIGHT_PORTS_OFFSET + 8;
    private static final int WEIGHT_DSCP_OFFSET = WEIGHT_PROTOCOL_OFFSET + 2;
    private static final int WEIGHT_WEIGHT_OFFSET = WEIGHT_DSCP_OFFSET + 2;
    private static final int WEIGHT_BYTES = WEIGHT_WEIGHT_OFFSET + 4;

    /** Writes a message without its trailer. Returns its length in octets. */
    public static int encode(
        final MutableDirectBuffer buffer, final int offset, final ExchangeSettings settings, final long receiverInstance) {
        final int body = offset + ExchangeHeader.LENGTH_BYTES;
        final Injection injection = settings.injection();
        final AdaptiveRates rates = injection.rates();
        final Secrets secrets = settings.secrets();
        final Traffic traffic = settings.traffic();
        buffer.setMemory(body, LISTS_OFFSET, (byte)0);
        buffer.putInt(body + NUMBER_OFFSET, settings.number(), BYTE_ORDER);
        buffer.putByte(body + MODE_OFFSET, (byte)settings.mode().ordinal());
        buffer.putByte(body + POLICY_OFFSET, (byte)injection.policy().ordinal());
        buffer.putLong(body + INSTANCE_OFFSET, receiverInstance, BYTE_ORDER);
        buffer.putLong(body + FROM_OFFSET, settings.fromInterval(), BYTE_ORDER);
        buffer.putLong(body + INTERVAL_NS_OFFSET, settings.intervalNs(), BYTE_ORDER);
        buffer.putLong(body + MAX_DELAY_OFFSET, settings.maxDelayNs(), BYTE_ORDER);
        buffer.putLong(body + SECRETS_OFFSET, secrets.digestKey0(), BYTE_ORDER);
        buffer.putLong(body + SECRETS_OFFSET + 8, secrets.digestKey1(), BYTE_ORDER);
        buffer.putLong(body + SECRETS_OFFSET + 16, secrets.sketchSeed(), BYTE_ORDER);
        buffer.putLong(body + EVERY_INTERVAL_OFFSET, injection.everyIntervalNs(), BYTE_ORDER);
        buffer.putLong(body + MAX_GAP_OFFSET, injection.maxGapNs(), BYTE_ORDER);
        buffer.putLong(body + CEILING_OFFSET, injection.ceilingBps(), BYTE_ORDER);
        buffer.putLong(body + CAPACITY_OFFSET, injection.capacityBps(), BYTE_ORDER);
        buffer.putInt(body + EVERY_N_OFFSET, injection.everyN(), BYTE_ORDER);
        buffer.putInt(body + MIN_RATE_OFFSET, rates.minRate(), BYTE_ORDER);
        buffer.putInt(body + MAX_RATE_OFFSET, rates.maxRate(), BYTE_ORDER);
        buffer.putInt(body + MIN_UTILIZATION_OFFSET, rates.minUtilizationPpm(), BYTE_ORDER);
        buffer.putInt(body + MAX_UTILIZATION_OFFSET, rates.maxUtilizationPpm(), BYTE_ORDER);
        buffer.putInt(body + PASSIVE_OFFSET, injection.passivePpm(), BYTE_ORDER);
        buffer.putInt(body + WITNESS_OFFSET, settings.content().witnessPpm(), BYTE_ORDER);
        buffer.putInt(body + VLAN_OFFSET, traffic.selector().vlan(), BYTE_ORDER);
        buffer.putShort(body + SOURCES_OFFSET, (short)traffic.selector().sources().size(), BYTE_ORDER);
        buffer.putShort(body + DESTINATIONS_OFFSET, (short)traffic.selector().destinations().size(), BYTE_ORDER);
        buffer.putShort(body + CLASSES_OFFSET, (short)traffic.classes().size(), BYTE_ORDER);
        buffer.putShort(body + SKETCHES_OFFSET, (short)settings.sketches().size(), BYTE_ORDER);
        buffer.putShort(body + WEIGHTS_OFFSET, (short)traffic.weights().size(), BYTE_ORDER);
        buffer.putInt(body + MOST_FLOWS_OFFSET, settings.content().mostFlows(), BYTE_ORDER);
        int position = body + LISTS_OFFSET;
        for (final AddressPrefix prefix : traffic.selector().sources()) {
            position = encodePrefix(buffer, position, prefix);
        }
        for (final AddressPrefix prefix : traffic.selector().destinations()) {
            position = encodePrefix(buffer, position, prefix);
        }
        for (final int dscp : traffic.classes()) {
            buffer.putInt(position, dscp, BYTE_ORDER);
            position += CLASS_BYTES;
        }
        for (final SketchPart sketch : settings.sketches()) {
            encodeSketch(buffer, position, sketch);
            position += SKETCH_BYTES;
        }
        for (final WeightRule rule : traffic.weights()) {
            encodeWeight(buffer, position, rule);
            position += WEIGHT_BYTES;
        }
        return ExchangeHeader.encode(buffer, offset, MessageType.SETTINGS, position - body);
    }

    private static int encodePrefix(final MutableDirectBuffer buffer, final int offset, final AddressPrefix prefix) {
        buffer.setMemory(offset, PREFIX_BYTES, (byte)0);
        if (prefix != null) {
            buffer.putByte(offset, (byte)prefix.family());
            buffer.putByte(offset + PREFIX_LENGTH_OFFSET, (byte)prefix.lengthBits());
            buffer.putLong(offset + PREFIX_HIGH_OFFSET, prefix.high(), BYTE_ORDER);
            buffer.putLong(offset + PREFIX_LOW_OFFSET, prefix.low(), BYTE_ORDER);
        }
        return offset + PREFIX_BYTES;
    }

    private static void encodeSketch(final MutableDirectBuffer buffer, final int offset, final SketchPart sketch) {
        final SketchGeometry geometry = sketch.geometry();
        buffer.setMemory(offset, SKETCH_BYTES, (byte)0);
        buffer.putInt(offset, geometry.family().code(), BYTE_ORDER);
        buffer.putInt(offset + SKETCH_CLASS_OFFSET, sketch.classIndex(), BYTE_ORDER);
        buffer.putInt(offset + SKETCH_ROWS_OFFSET, geometry.rows(), BYTE_ORDER);
        buffer.putInt(offset + SKETCH_COLUMNS_OFFSET, geometry.columns(), BYTE_ORDER);
        buffer.putInt(offset + SKETCH_VLDA_OFFSET, geometry.vldaLength(), BYTE_ORDER);
        for (int row = 0; row < geometry.rows(); row++) {
            buffer.putInt(offset + SKETCH_RATES_OFFSET + 4 * row, geometry.rate(row), BYTE_ORDER);
        }
    }

    private static void encodeWeight(final MutableDirectBuffer buffer, final int offset, final WeightRule rule) {
        encodePrefix(buffer, offset, rule.source());
        encodePrefix(buffer, offset + WEIGHT_DESTINATION_OFFSET, rule.destination());
        buffer.putShort(offset + WEIGHT_PORTS_OFFSET, (short)rule.firstSourcePort(), BYTE_ORDER);
        buffer.putShort(offset + WEIGHT_PORTS_OFFSET + 2, (short)rule.lastSourcePort(), BYTE_ORDER);
        buffer.putShort(offset + WEIGHT_PORTS_OFFSET + 4, (short)rule.firstDestinationPort(), BYTE_ORDER);
        buffer.putShort(offset + WEIGHT_PORTS_OFFSET + 6, (short)rule.lastDestinationPort(), BYTE_ORDER);
        buffer.putShort(offset + WEIGHT_PROTOCOL_OFFSET, (short)rule.protocol(), BYTE_ORDER);
        buffer.putShort(offset + WEIGHT_DSCP_OFFSET, (short)rule.dscp(), BYTE_ORDER);
        buffer.putInt(offset + WEIGHT_WEIGHT_OFFSET, rule.weight(), BYTE_ORDER);
    }

    static ExchangeResult verify(final DirectBuffer buffer, final int body, final int bodyBytes) {
        if (bodyBytes < LISTS_OFFSET) {
            return ExchangeResult.LENGTH;
        }
        if (!isZero(buffer, body + RESERVED_SHORT_OFFSET, 2) || !isZero(buffer, body + RESERVED_COUNT_OFFSET, 2)) {
            return ExchangeResult.RESERVED;
        }
        return new SettingsMessage().wrap(buffer, body - ExchangeHeader.LENGTH_BYTES).verify();
    }

    /** Decodes, since the settings check their values. */
    private ExchangeResult verify() {
        if (unsignedShort(SOURCES_OFFSET) > ExchangeSettings.MAX_PREFIXES ||
            unsignedShort(DESTINATIONS_OFFSET) > ExchangeSettings.MAX_PREFIXES ||
            unsignedShort(CLASSES_OFFSET) > ExchangeSettings.MAX_CLASSES ||
            unsignedShort(SKETCHES_OFFSET) > ExchangeSettings.MAX_SKETCHES ||
            unsignedShort(WEIGHTS_OFFSET) > ExchangeSettings.MAX_WEIGHTS) {
            return ExchangeResult.COUNT;
        }
        if (weightsAt() + unsignedShort(WEIGHTS_OFFSET) * WEIGHT_BYTES != body().capacity()) {
            return ExchangeResult.LENGTH;
        }
        ExchangeResult reason = ExchangeResult.GEOMETRY;
        try {
            sketches();
            reason = ExchangeResult.VALUE;
            settings();
            return ExchangeResult.ACCEPTED;
        } catch (final IllegalArgumentException ex) {
            return reason;
        }
    }

    /** Turns the secrets of an encoded message into noise, or back, in place. */
    static void applyMask(final MutableDirectBuffer buffer, final int offset, final byte[] mask) {
        final int secrets = offset + ExchangeHeader.LENGTH_BYTES + SECRETS_OFFSET;
        for (int i = 0; i < SECRETS_BYTES; i++) {
            buffer.putByte(secrets + i, (byte)(buffer.getByte(secrets + i) ^ mask[i]));
        }
    }

    public long receiverInstance() {
        return longInteger(INSTANCE_OFFSET);
    }

    /** The settings themselves; allocates. */
    public ExchangeSettings settings() {
        return new ExchangeSettings(
            integer(NUMBER_OFFSET), longInteger(FROM_OFFSET), longInteger(INTERVAL_NS_OFFSET), longInteger(MAX_DELAY_OFFSET),
            new Content(constant(Mode.values(), MODE_OFFSET), integer(WITNESS_OFFSET), integer(MOST_FLOWS_OFFSET)),
            new Secrets(longInteger(SECRETS_OFFSET), longInteger(SECRETS_OFFSET + 8), longInteger(SECRETS_OFFSET + 16)),
            new Traffic(
                new Selector(
                    list(LISTS_OFFSET, SOURCES_OFFSET, PREFIX_BYTES, this::prefix),
                    list(LISTS_OFFSET + unsignedShort(SOURCES_OFFSET) * PREFIX_BYTES, DESTINATIONS_OFFSET, PREFIX_BYTES,
                        this::prefix),
                    integer(VLAN_OFFSET)),
                list(classesAt(), CLASSES_OFFSET, CLASS_BYTES, this::integer),
                list(weightsAt(), WEIGHTS_OFFSET, WEIGHT_BYTES, this::weight)),
            new Injection(
                constant(Policy.values(), POLICY_OFFSET), integer(EVERY_N_OFFSET), longInteger(EVERY_INTERVAL_OFFSET),
                new AdaptiveRates(integer(MIN_UTILIZATION_OFFSET), integer(MAX_UTILIZATION_OFFSET), integer(MIN_RATE_OFFSET),
                    integer(MAX_RATE_OFFSET)),
                longInteger(MAX_GAP_OFFSET), longInteger(CEILING_OFFSET), longInteger(CAPACITY_OFFSET), integer(PASSIVE_OFFSET)),
            sketches());
    }

    private <T> T constant(final T[] constants, final int offset) {
        require(octet(offset) < constants.length);
        return constants[octet(offset)];
    }

    private int classesAt() {
        return LISTS_OFFSET + (unsignedShort(SOURCES_OFFSET) + unsignedShort(DESTINATIONS_OFFSET)) * PREFIX_BYTES;
    }

    private int sketchesAt() {
        return classesAt() + unsignedShort(CLASSES_OFFSET) * CLASS_BYTES;
    }

    private int weightsAt() {
        return sketchesAt() + unsignedShort(SKETCHES_OFFSET) * SKETCH_BYTES;
    }

    private <T> List<T> list(final int at, final int countOffset, final int entryBytes, final IntFunction<T> entries) {
        return IntStream.range(0, unsignedShort(countOffset)).mapToObj((i) -> entries.apply(at + i * entryBytes)).toList();
    }

    private AddressPrefix prefix(final int offset) {
        require(isZero(body(), offset + PREFIX_RESERVED_OFFSET, 2));
        return new AddressPrefix(octet(offset), octet(offset + PREFIX_LENGTH_OFFSET),
            longInteger(offset + PREFIX_HIGH_OFFSET), longInteger(offset + PREFIX_LOW_OFFSET));
    }

    private AddressPrefix prefixOrAny(final int offset) {
        return isZero(body(), offset, PREFIX_BYTES) ? null : prefix(offset);
    }

    private List<SketchPart> sketches() {
        return list(sketchesAt(), SKETCHES_OFFSET, SKETCH_BYTES,
            (at) -> new SketchPart(integer(at + SKETCH_CLASS_OFFSET), geometry(at)));
    }

    private SketchGeometry geometry(final int offset) {
        final SketchFamily family = SketchFamily.of(integer(offset));
        final int rows = integer(offset + SKETCH_ROWS_OFFSET);
        final int columns = integer(offset + SKETCH_COLUMNS_OFFSET);
        final int vldaLength = integer(offset + SKETCH_VLDA_OFFSET);
        require(family != null && isWithin(rows, 1, SketchGeometry.MAX_ROWS));
        final int unused = offset + SKETCH_RATES_OFFSET + 4 * rows;
        require(isZero(body(), unused, offset + SKETCH_BYTES - unused));
        final int[] rates = IntStream.range(0, rows).map((row) -> integer(offset + SKETCH_RATES_OFFSET + 4 * row)).toArray();
        final SketchGeometry geometry = switch (family) {
            case LDA -> SketchGeometry.lda(columns, rates);
            case SDS -> SketchGeometry.sds(rows, columns);
            case LDS -> SketchGeometry.lds(rows, columns, vldaLength, rates);
        };
        require(geometry.vldaLength() == vldaLength && geometry.rate(rows - 1) == rates[rows - 1]);
        return geometry;
    }

    private WeightRule weight(final int offset) {
        final int ports = offset + WEIGHT_PORTS_OFFSET;
        return new WeightRule(
            prefixOrAny(offset), prefixOrAny(offset + WEIGHT_DESTINATION_OFFSET), unsignedShort(ports), unsignedShort(ports + 2),
            unsignedShort(ports + 4), unsignedShort(ports + 6), (short)unsignedShort(offset + WEIGHT_PROTOCOL_OFFSET),
            (short)unsignedShort(offset + WEIGHT_DSCP_OFFSET), integer(offset + WEIGHT_WEIGHT_OFFSET));
    }

    private static void require(final boolean isLegal) {
        if (!isLegal) {
            throw new IllegalArgumentException("illegal octets");
        }
    }
}

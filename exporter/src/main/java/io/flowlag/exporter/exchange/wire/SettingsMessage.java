package io.flowlag.exporter.exchange.wire;

import io.flowlag.exporter.exchange.wire.ExchangeSettings.AddressPrefix;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Injection;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Mode;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Policy;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Secrets;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Selector;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.SketchPart;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.WeightRule;
import io.flowlag.sketch.image.SketchFamily;
import io.flowlag.sketch.image.SketchGeometry;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.util.ArrayList;
import java.util.List;

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
public final class SettingsMessage extends MessageFlyweight {
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
        final Secrets secrets = settings.secrets();
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
        buffer.putInt(body + MIN_RATE_OFFSET, injection.minRate(), BYTE_ORDER);
        buffer.putInt(body + MAX_RATE_OFFSET, injection.maxRate(), BYTE_ORDER);
        buffer.putInt(body + MIN_UTILIZATION_OFFSET, injection.minUtilizationPpm(), BYTE_ORDER);
        buffer.putInt(body + MAX_UTILIZATION_OFFSET, injection.maxUtilizationPpm(), BYTE_ORDER);
        buffer.putInt(body + PASSIVE_OFFSET, injection.passivePpm(), BYTE_ORDER);
        buffer.putInt(body + WITNESS_OFFSET, settings.witnessPpm(), BYTE_ORDER);
        buffer.putInt(body + VLAN_OFFSET, settings.selector().vlan(), BYTE_ORDER);
        buffer.putShort(body + SOURCES_OFFSET, (short)settings.selector().sources().size(), BYTE_ORDER);
        buffer.putShort(body + DESTINATIONS_OFFSET, (short)settings.selector().destinations().size(), BYTE_ORDER);
        buffer.putShort(body + CLASSES_OFFSET, (short)settings.classes().size(), BYTE_ORDER);
        buffer.putShort(body + SKETCHES_OFFSET, (short)settings.sketches().size(), BYTE_ORDER);
        buffer.putShort(body + WEIGHTS_OFFSET, (short)settings.weights().size(), BYTE_ORDER);
        buffer.putInt(body + MOST_FLOWS_OFFSET, settings.mostFlows(), BYTE_ORDER);
        final int end = encodeLists(buffer, body + LISTS_OFFSET, settings);
        return ExchangeHeader.encode(buffer, offset, MessageType.SETTINGS, end - body);
    }

    private static int encodeLists(final MutableDirectBuffer buffer, final int offset, final ExchangeSettings settings) {
        int position = offset;
        for (final AddressPrefix prefix : settings.selector().sources()) {
            position = encodePrefix(buffer, position, prefix);
        }
        for (final AddressPrefix prefix : settings.selector().destinations()) {
            position = encodePrefix(buffer, position, prefix);
        }
        for (final int dscp : settings.classes()) {
            buffer.putInt(position, dscp, BYTE_ORDER);
            position += CLASS_BYTES;
        }
        for (final SketchPart sketch : settings.sketches()) {
            encodeSketch(buffer, position, sketch);
            position += SKETCH_BYTES;
        }
        for (final WeightRule rule : settings.weights()) {
            encodeWeight(buffer, position, rule);
            position += WEIGHT_BYTES;
        }
        return position;
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
        if (!hasLegalValues(buffer, body)) {
            return ExchangeResult.VALUE;
        }
        final int sourceCount = count(buffer, body + SOURCES_OFFSET);
        final int destinationCount = count(buffer, body + DESTINATIONS_OFFSET);
        final int classCount = count(buffer, body + CLASSES_OFFSET);
        final int sketchCount = count(buffer, body + SKETCHES_OFFSET);
        final int weightCount = count(buffer, body + WEIGHTS_OFFSET);
        if (sourceCount > ExchangeSettings.MAX_PREFIXES || destinationCount > ExchangeSettings.MAX_PREFIXES ||
            classCount > ExchangeSettings.MAX_CLASSES || sketchCount > ExchangeSettings.MAX_SKETCHES ||
            weightCount > ExchangeSettings.MAX_WEIGHTS) {
            return ExchangeResult.COUNT;
        }
        final int classes = body + LISTS_OFFSET + (sourceCount + destinationCount) * PREFIX_BYTES;
        final int sketches = classes + classCount * CLASS_BYTES;
        final int weights = sketches + sketchCount * SKETCH_BYTES;
        if (weights + weightCount * WEIGHT_BYTES != body + bodyBytes) {
            return ExchangeResult.LENGTH;
        }
        return verifyLists(buffer, body + LISTS_OFFSET, classes, sketches, weights, body + bodyBytes);
    }

    private static ExchangeResult verifyLists(
        final DirectBuffer buffer,
        final int prefixes,
        final int classes,
        final int sketches,
        final int weights,
        final int end) {
        for (int prefix = prefixes; prefix < classes; prefix += PREFIX_BYTES) {
            if (!isPrefix(buffer, prefix, false)) {
                return ExchangeResult.VALUE;
            }
        }
        for (int dscp = classes; dscp < sketches; dscp += CLASS_BYTES) {
            if (!isWithin(buffer.getInt(dscp, BYTE_ORDER), 0, 63)) {
                return ExchangeResult.VALUE;
            }
        }
        for (int sketch = sketches; sketch < weights; sketch += SKETCH_BYTES) {
            if (geometry(buffer, sketch) == null ||
                !isWithin(buffer.getInt(sketch + SKETCH_CLASS_OFFSET, BYTE_ORDER), -1, ExchangeSettings.MAX_CLASSES - 1)) {
                return ExchangeResult.GEOMETRY;
            }
        }
        for (int weight = weights; weight < end; weight += WEIGHT_BYTES) {
            if (!isWeight(buffer, weight)) {
                return ExchangeResult.VALUE;
            }
        }
        return ExchangeResult.ACCEPTED;
    }

    private static boolean hasLegalValues(final DirectBuffer buffer, final int body) {
        long signs = buffer.getLong(body + MAX_DELAY_OFFSET, BYTE_ORDER);
        for (int offset = EVERY_INTERVAL_OFFSET; offset < EVERY_N_OFFSET; offset += 8) {
            signs |= buffer.getLong(body + offset, BYTE_ORDER);
        }
        for (int offset = EVERY_N_OFFSET; offset < MIN_UTILIZATION_OFFSET; offset += 4) {
            signs |= buffer.getInt(body + offset, BYTE_ORDER);
        }
        boolean isLegal = signs >= 0;
        for (int offset = MIN_UTILIZATION_OFFSET; offset < VLAN_OFFSET; offset += 4) {
            isLegal &= isWithin(buffer.getInt(body + offset, BYTE_ORDER), 0, ExchangeSettings.PPM);
        }
        return isLegal && buffer.getInt(body + MOST_FLOWS_OFFSET, BYTE_ORDER) >= 0 &&
            buffer.getInt(body + NUMBER_OFFSET, BYTE_ORDER) >= 1 &&
            buffer.getLong(body + INTERVAL_NS_OFFSET, BYTE_ORDER) >= 1 &&
            isWithin(buffer.getByte(body + MODE_OFFSET), 0, Mode.values().length - 1) &&
            isWithin(buffer.getByte(body + POLICY_OFFSET), 0, Policy.values().length - 1) &&
            isWithin(buffer.getInt(body + VLAN_OFFSET, BYTE_ORDER), ExchangeSettings.ANY, 4094);
    }

    private static boolean isPrefix(final DirectBuffer buffer, final int offset, final boolean mayBeAny) {
        if (!isZero(buffer, offset + PREFIX_RESERVED_OFFSET, 2)) {
            return false;
        }
        final int lengthBits = buffer.getByte(offset + PREFIX_LENGTH_OFFSET) & 0xff;
        return switch (buffer.getByte(offset)) {
            case 0 -> mayBeAny && isZero(buffer, offset, PREFIX_BYTES);
            case 4 -> lengthBits <= 32 && buffer.getLong(offset + PREFIX_HIGH_OFFSET, BYTE_ORDER) == 0 &&
                buffer.getLong(offset + PREFIX_LOW_OFFSET, BYTE_ORDER) >>> 32 == 0;
            case 6 -> lengthBits <= 128;
            default -> false;
        };
    }

    private static boolean isWeight(final DirectBuffer buffer, final int offset) {
        return isPrefix(buffer, offset, true) && isPrefix(buffer, offset + WEIGHT_DESTINATION_OFFSET, true) &&
            count(buffer, offset + WEIGHT_PORTS_OFFSET) <= count(buffer, offset + WEIGHT_PORTS_OFFSET + 2) &&
            count(buffer, offset + WEIGHT_PORTS_OFFSET + 4) <= count(buffer, offset + WEIGHT_PORTS_OFFSET + 6) &&
            isWithin(buffer.getShort(offset + WEIGHT_PROTOCOL_OFFSET, BYTE_ORDER), -1, 255) &&
            isWithin(buffer.getShort(offset + WEIGHT_DSCP_OFFSET, BYTE_ORDER), -1, 63) &&
            buffer.getInt(offset + WEIGHT_WEIGHT_OFFSET, BYTE_ORDER) >= 1;
    }

    private static boolean isWithin(final int value, final int least, final int most) {
        return value >= least && value <= most;
    }

    private static int count(final DirectBuffer buffer, final int offset) {
        return buffer.getShort(offset, BYTE_ORDER) & 0xffff;
    }

    /** The geometry of an entry, null if there can be none. Allocates; there are few entries and settings are rare. */
    private static SketchGeometry geometry(final DirectBuffer buffer, final int offset) {
        final SketchFamily family = SketchFamily.of(buffer.getInt(offset, BYTE_ORDER));
        final int rows = buffer.getInt(offset + SKETCH_ROWS_OFFSET, BYTE_ORDER);
        final int columns = buffer.getInt(offset + SKETCH_COLUMNS_OFFSET, BYTE_ORDER);
        final int vldaLength = buffer.getInt(offset + SKETCH_VLDA_OFFSET, BYTE_ORDER);
        if (family == null || !isWithin(rows, 1, SketchGeometry.MAX_ROWS)) {
            return null;
        }
        final int unused = offset + SKETCH_RATES_OFFSET + 4 * rows;
        if (!isZero(buffer, unused, offset + SKETCH_BYTES - unused)) {
            return null;
        }
        final int[] rates = new int[rows];
        for (int row = 0; row < rows; row++) {
            rates[row] = buffer.getInt(offset + SKETCH_RATES_OFFSET + 4 * row, BYTE_ORDER);
        }
        try {
            final SketchGeometry geometry = switch (family) {
                case LDA -> SketchGeometry.lda(columns, rates);
                case SDS -> SketchGeometry.sds(rows, columns);
                case LDS -> SketchGeometry.lds(rows, columns, vldaLength, rates);
            };
            final boolean isSame = geometry.vldaLength() == vldaLength && geometry.rate(rows - 1) == rates[rows - 1];
            return isSame ? geometry : null;
        } catch (final IllegalArgumentException ex) {
            return null;
        }
    }

    public SettingsMessage wrap(final DirectBuffer buffer, final int offset) {
        wrapMessage(buffer, offset);
        return this;
    }

    public long receiverInstance() {
        return longInteger(INSTANCE_OFFSET);
    }

    /** Turns the secrets of an encoded message into noise, or back, in place. */
    static void applyMask(final MutableDirectBuffer buffer, final int offset, final byte[] mask) {
        final int secrets = offset + ExchangeHeader.LENGTH_BYTES + SECRETS_OFFSET;
        for (int i = 0; i < SECRETS_BYTES; i++) {
            buffer.putByte(secrets + i, (byte)(buffer.getByte(secrets + i) ^ mask[i]));
        }
    }

    /** The settings themselves; allocates. */
    public ExchangeSettings settings() {
        final Selector selector = new Selector(
            prefixes(LISTS_OFFSET, unsignedShort(SOURCES_OFFSET)),
            prefixes(LISTS_OFFSET + unsignedShort(SOURCES_OFFSET) * PREFIX_BYTES, unsignedShort(DESTINATIONS_OFFSET)),
            integer(VLAN_OFFSET));
        final Injection injection = new Injection(Policy.values()[octet(POLICY_OFFSET)], integer(EVERY_N_OFFSET),
            longInteger(EVERY_INTERVAL_OFFSET), integer(MIN_UTILIZATION_OFFSET), integer(MAX_UTILIZATION_OFFSET),
            integer(MIN_RATE_OFFSET), integer(MAX_RATE_OFFSET), longInteger(MAX_GAP_OFFSET), longInteger(CEILING_OFFSET),
            longInteger(CAPACITY_OFFSET), integer(PASSIVE_OFFSET));
        final int classes = LISTS_OFFSET +
            (unsignedShort(SOURCES_OFFSET) + unsignedShort(DESTINATIONS_OFFSET)) * PREFIX_BYTES;
        final int sketches = classes + unsignedShort(CLASSES_OFFSET) * CLASS_BYTES;
        final int weights = sketches + unsignedShort(SKETCHES_OFFSET) * SKETCH_BYTES;
        return new ExchangeSettings(
            integer(NUMBER_OFFSET),
            longInteger(FROM_OFFSET),
            longInteger(INTERVAL_NS_OFFSET),
            longInteger(MAX_DELAY_OFFSET),
            Mode.values()[octet(MODE_OFFSET)],
            new Secrets(longInteger(SECRETS_OFFSET), longInteger(SECRETS_OFFSET + 8), longInteger(SECRETS_OFFSET + 16)),
            selector,
            injection,
            integer(WITNESS_OFFSET),
            classes(classes),
            sketches(sketches),
            weights(weights),
            integer(MOST_FLOWS_OFFSET));
    }

    private List<AddressPrefix> prefixes(final int offset, final int count) {
        final List<AddressPrefix> prefixes = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            prefixes.add(prefix(offset + i * PREFIX_BYTES));
        }
        return prefixes;
    }

    private AddressPrefix prefix(final int offset) {
        final int family = octet(offset);
        return family == 0 ? null : new AddressPrefix(family, octet(offset + PREFIX_LENGTH_OFFSET),
            longInteger(offset + PREFIX_HIGH_OFFSET), longInteger(offset + PREFIX_LOW_OFFSET));
    }

    private List<Integer> classes(final int offset) {
        final List<Integer> classes = new ArrayList<>();
        for (int i = 0; i < unsignedShort(CLASSES_OFFSET); i++) {
            classes.add(integer(offset + i * CLASS_BYTES));
        }
        return classes;
    }

    private List<SketchPart> sketches(final int offset) {
        final List<SketchPart> sketches = new ArrayList<>();
        for (int i = 0; i < unsignedShort(SKETCHES_OFFSET); i++) {
            final int sketch = offset + i * SKETCH_BYTES;
            sketches.add(new SketchPart(integer(sketch + SKETCH_CLASS_OFFSET), geometry(body(), sketch)));
        }
        return sketches;
    }

    private List<WeightRule> weights(final int offset) {
        final List<WeightRule> weights = new ArrayList<>();
        for (int i = 0; i < unsignedShort(WEIGHTS_OFFSET); i++) {
            final int rule = offset + i * WEIGHT_BYTES;
            weights.add(new WeightRule(
                prefix(rule),
                prefix(rule + WEIGHT_DESTINATION_OFFSET),
                unsignedShort(rule + WEIGHT_PORTS_OFFSET),
                unsignedShort(rule + WEIGHT_PORTS_OFFSET + 2),
                unsignedShort(rule + WEIGHT_PORTS_OFFSET + 4),
                unsignedShort(rule + WEIGHT_PORTS_OFFSET + 6),
                (short)unsignedShort(rule + WEIGHT_PROTOCOL_OFFSET),
                (short)unsignedShort(rule + WEIGHT_DSCP_OFFSET),
                integer(rule + WEIGHT_WEIGHT_OFFSET)));
        }
        return weights;
    }
}

package io.flowlag.exporter.exchange.link;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.exporter.exchange.wire.CellsMessage;
import io.flowlag.exporter.exchange.wire.DropsMessage;
import io.flowlag.exporter.exchange.wire.ExchangeResult;
import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.SketchPart;
import io.flowlag.exporter.exchange.wire.FlowSum;
import io.flowlag.exporter.exchange.wire.FlowSumsMessage;
import io.flowlag.exporter.exchange.wire.InFlightMessage;
import io.flowlag.exporter.exchange.wire.IntervalBeginMessage;
import io.flowlag.exporter.exchange.wire.IntervalEndMessage;
import io.flowlag.exporter.exchange.wire.MessageType;
import io.flowlag.exporter.exchange.wire.PointDrops;
import io.flowlag.sketch.image.ImagePairing;
import io.flowlag.sketch.image.ImageResult;
import io.flowlag.sketch.image.ImageVerifier;
import io.flowlag.sketch.image.PairingResult;
import io.flowlag.sketch.image.SketchImage;
import org.agrona.DirectBuffer;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Assembles one sender's messages of an interval. A protocol violation ends the connection. Data that does not fit this receiver
 * (other settings, other sketches, too much) only spoils the interval, and the reason names both values. Memory grows with
 * received data, never with announced sizes, up to the settings' images and a limit for lists. One thread; it reuses its memory,
 * and allocates when settings change or lists grow.
 */
public final class IntervalAssembler implements SenderInterval {
    private final long pointId;
    private final SettingsSchedule schedule;
    private final long maxListBytes;
    private final IntervalBeginMessage begin = new IntervalBeginMessage();
    private final DropsMessage dropsMessage = new DropsMessage();
    private final CellsMessage cells = new CellsMessage();
    private final InFlightMessage inFlightMessage = new InFlightMessage();
    private final FlowSumsMessage flowsMessage = new FlowSumsMessage();
    private final IntervalEndMessage end = new IntervalEndMessage();
    private final ExpandableArrayBuffer digests = new ExpandableArrayBuffer(0);
    private final ExpandableArrayBuffer flows = new ExpandableArrayBuffer(0);
    private final ExpandableArrayBuffer witnesses = new ExpandableArrayBuffer(0);

    private final FlowSum sum = new FlowSum();
    private HeldSettings held;
    private UnsafeBuffer[] buffers = {};
    private SketchImage[] images = {};
    private boolean isOpen;
    private ExchangeResult spoiled;
    private String spoiledText = "";
    private long number;
    private long intervalNs;
    private int errorEstimate;
    private int sketchCount;
    private int announcedDigests;
    private int announcedFlows;
    private int announcedWitnesses;
    private int messageCount;
    private boolean isMarkedDamaged;
    private int sketchIndex;
    private int sketchBytes;
    private int digestCount;
    private int flowCount;
    private int witnessCount;
    private PointDrops drops;

    /**
     * An assembler for one sender.
     *
     * @param maxListBytes most octets of digests and flows of an interval.
     */
    public IntervalAssembler(final long pointId, final SettingsSchedule schedule, final long maxListBytes) {
        this.pointId = pointId;
        this.schedule = schedule;
        this.maxListBytes = maxListBytes;
    }

    /** Whether an interval is open. */
    boolean isOpen() {
        return isOpen;
    }

    /** Drops the open interval. */
    void abandon() {
        isOpen = false;
    }

    /** Length of the interval as announced by its sender. */
    long intervalNs() {
        return intervalNs;
    }

    @Override
    public int errorEstimate() {
        return errorEstimate;
    }

    /** Why the interval is unusable; null if it is usable. */
    public ExchangeResult spoiled() {
        return spoiled;
    }

    /** The mismatch, with both values. */
    public String spoiledText() {
        return spoiledText;
    }

    /** Handles INTERVAL_BEGIN; drops an open interval. The buffer is the connection's, which reuses it. */
    public void begin(final DirectBuffer buffer, final int offset) {
        begin.wrap(buffer, offset);
        isOpen = true;
        spoiled = null;
        spoiledText = "";
        number = begin.intervalNumber();
        intervalNs = begin.intervalNs();
        errorEstimate = begin.errorEstimate();
        sketchCount = begin.sketchCount();
        announcedDigests = begin.inFlightCount();
        announcedFlows = begin.flowCount();
        announcedWitnesses = begin.witnessCount();
        isMarkedDamaged = begin.isDamaged();
        messageCount = 0;
        sketchIndex = 0;
        sketchBytes = 0;
        digestCount = 0;
        flowCount = 0;
        witnessCount = 0;
        drops = null;
        checkSettings();
    }

    private void checkSettings() {
        final HeldSettings ours = schedule.at(number, intervalNs);
        final long listBytes = 8L * announcedDigests + (long)FlowSum.LENGTH_BYTES * (announcedFlows + (long)announcedWitnesses);
        if (ours == null) {
            spoil(ExchangeResult.SETTINGS, "settings of interval " + number, begin.settingsNumber(), "none");
        } else if (ours.receiverInstance() != begin.receiverInstance()) {
            spoil(ExchangeResult.SETTINGS, "receiver's run of interval " + number,
                Long.toHexString(begin.receiverInstance()), Long.toHexString(ours.receiverInstance()));
        } else if (ours.settings().number() != begin.settingsNumber()) {
            spoil(ExchangeResult.SETTINGS, "settings of interval " + number, begin.settingsNumber(), ours.settings().number());
        } else if (ours.settings().intervalNs() != intervalNs) {
            spoil(ExchangeResult.SETTINGS, "intervalNs", intervalNs, ours.settings().intervalNs());
        } else if (!isExpectedCount(ours.settings())) {
            spoil(ExchangeResult.PAIRING, "sketches", sketchCount, expectedSketches(ours.settings()));
        } else if (listBytes > maxListBytes) {
            spoil(ExchangeResult.INTERVAL, "octets of digests and flows", listBytes, "at most " + maxListBytes);
        } else {
            use(ours);
        }
    }

    private boolean isExpectedCount(final ExchangeSettings settings) {
        return sketchCount == expectedSketches(settings) ||
            settings.mode() == ExchangeSettings.Mode.AUTO && sketchCount == 0;
    }

    private static int expectedSketches(final ExchangeSettings settings) {
        return settings.mode() == ExchangeSettings.Mode.FLOWS ? 0 : settings.sketches().size();
    }

    private void use(final HeldSettings ours) {
        if (held != ours) {
            held = ours;
            buffers = new UnsafeBuffer[expectedSketches(ours.settings())];
            images = new SketchImage[buffers.length];
        }
    }

    private void spoil(final ExchangeResult result, final String name, final Object sender, final Object receiver) {
        if (spoiled == null) {
            spoiled = result;
            spoiledText = name + ": sender " + sender + ", receiver " + receiver;
        }
    }

    /** Handles a message between begin and end. */
    public ExchangeResult add(final MessageType type, final DirectBuffer buffer, final int offset) {
        if (!isOpen) {
            return ExchangeResult.UNEXPECTED;
        }
        messageCount++;
        return switch (type) {
            case DROPS -> addDrops(buffer, offset);
            case CELLS -> addCells(buffer, offset);
            case IN_FLIGHT -> addDigests(buffer, offset);
            case FLOW_SUMS, WITNESS -> addFlows(type, buffer, offset);
            default -> ExchangeResult.UNEXPECTED;
        };
    }

    private ExchangeResult addDrops(final DirectBuffer buffer, final int offset) {
        dropsMessage.wrap(buffer, offset);
        if (dropsMessage.intervalNumber() != number || drops != null) {
            return ExchangeResult.INTERVAL;
        }
        drops = dropsMessage.drops();
        return ExchangeResult.ACCEPTED;
    }

    private ExchangeResult addCells(final DirectBuffer buffer, final int offset) {
        cells.wrap(buffer, offset);
        if (cells.intervalNumber() != number || cells.sketchIndex() != sketchIndex || sketchIndex >= sketchCount ||
            cells.imageOffset() != sketchBytes) {
            return ExchangeResult.INTERVAL;
        }
        sketchBytes += cells.decodedBytes();
        final boolean isLast = cells.imageBytes() == sketchBytes;
        if (spoiled == null) {
            final int expectedBytes = held.settings().sketches().get(sketchIndex).geometry().imageLength();
            if (cells.imageBytes() == expectedBytes) {
                decode(isLast, expectedBytes);
            } else {
                spoil(ExchangeResult.PAIRING, "octets of sketch " + sketchIndex, cells.imageBytes(), expectedBytes);
            }
        }
        if (isLast) {
            sketchIndex++;
            sketchBytes = 0;
        }
        return ExchangeResult.ACCEPTED;
    }

    private void decode(final boolean isLast, final int imageBytes) {
        if (buffers[sketchIndex] == null) {
            buffers[sketchIndex] = new UnsafeBuffer(new byte[imageBytes]);
            images[sketchIndex] = new SketchImage();
        }
        cells.decode(buffers[sketchIndex]);
        if (isLast) {
            checkImage(buffers[sketchIndex], images[sketchIndex], imageBytes);
        }
    }

    private void checkImage(final UnsafeBuffer buffer, final SketchImage image, final int imageBytes) {
        final ImageResult verified = ImageVerifier.verify(buffer, 0, imageBytes);
        if (verified != ImageResult.ACCEPTED) {
            spoil(ExchangeResult.PAIRING, "sketch " + sketchIndex, verified, ImageResult.ACCEPTED);
            return;
        }
        image.wrap(buffer, 0, imageBytes);
        final SketchPart part = held.settings().sketches().get(sketchIndex);
        final int fingerprint = KeyedMix.fingerprint(held.settings().secrets().sketchSeed());
        final PairingResult pairing = ImagePairing.check(part.geometry(), fingerprint, image);
        if (pairing != PairingResult.PAIRED) {
            spoil(ExchangeResult.PAIRING, pairing + " of sketch " + sketchIndex,
                image.geometry() + " seed " + Integer.toHexString(image.seedFingerprint()),
                part.geometry() + " seed " + Integer.toHexString(fingerprint));
        } else if (image.intervalNumber() != number || image.intervalNs() != held.settings().intervalNs()) {
            spoil(ExchangeResult.PAIRING, "interval of sketch " + sketchIndex,
                image.intervalNumber() + " of " + image.intervalNs() + " ns",
                number + " of " + held.settings().intervalNs() + " ns");
        }
    }

    private ExchangeResult addDigests(final DirectBuffer buffer, final int offset) {
        inFlightMessage.wrap(buffer, offset);
        final int count = inFlightMessage.count();
        if (inFlightMessage.intervalNumber() != number || inFlightMessage.firstIndex() != digestCount ||
            count > announcedDigests - digestCount) {
            return ExchangeResult.INTERVAL;
        }
        if (spoiled == null) {
            for (int i = 0; i < count; i++) {
                digests.putLong(8 * (digestCount + i), inFlightMessage.digest(i));
            }
        }
        digestCount += count;
        return ExchangeResult.ACCEPTED;
    }

    private ExchangeResult addFlows(final MessageType type, final DirectBuffer buffer, final int offset) {
        flowsMessage.wrap(buffer, offset);
        final boolean isWitness = type == MessageType.WITNESS;
        final int come = isWitness ? witnessCount : flowCount;
        final int announced = isWitness ? announcedWitnesses : announcedFlows;
        final int count = flowsMessage.count();
        if (flowsMessage.intervalNumber() != number || flowsMessage.firstIndex() != come || count > announced - come) {
            return ExchangeResult.INTERVAL;
        }
        if (spoiled == null) {
            final ExpandableArrayBuffer target = isWitness ? witnesses : flows;
            flowsMessage.flows(target, come * FlowSum.LENGTH_BYTES);
            checkClasses(target, come, count);
        }
        if (isWitness) {
            witnessCount += count;
        } else {
            flowCount += count;
        }
        return ExchangeResult.ACCEPTED;
    }

    private void checkClasses(final DirectBuffer sums, final int first, final int count) {
        final int classCount = Math.max(1, held.settings().classes().size());
        for (int i = first; spoiled == null && i < first + count; i++) {
            final int classIndex = sum.wrap(sums, i * FlowSum.LENGTH_BYTES).classIndex();
            if (classIndex >= classCount) {
                spoil(ExchangeResult.VALUE, "class of a flow", classIndex, "below " + classCount);
            }
        }
    }

    /** Handles INTERVAL_END: accepted if everything announced has arrived. */
    public ExchangeResult end(final DirectBuffer buffer, final int offset) {
        end.wrap(buffer, offset);
        if (!isOpen) {
            return ExchangeResult.UNEXPECTED;
        }
        isOpen = false;
        final boolean isWhole = end.intervalNumber() == number && end.messageCount() == messageCount && drops != null &&
            sketchIndex == sketchCount && digestCount == announcedDigests && flowCount == announcedFlows &&
            witnessCount == announcedWitnesses;
        return isWhole ? ExchangeResult.ACCEPTED : ExchangeResult.INTERVAL;
    }

    @Override
    public long pointId() {
        return pointId;
    }

    @Override
    public long number() {
        return number;
    }

    @Override
    public ExchangeSettings settings() {
        return held.settings();
    }

    @Override
    public PointDrops drops() {
        return drops;
    }

    @Override
    public boolean isDamaged() {
        boolean isDamaged = isMarkedDamaged || !drops.isNone();
        for (int i = 0; i < sketchCount; i++) {
            isDamaged |= images[i].damaged();
        }
        return isDamaged;
    }

    @Override
    public int sketchCount() {
        return sketchCount;
    }

    @Override
    public SketchImage sketch(final int index) {
        return images[index];
    }

    @Override
    public int inFlightCount() {
        return digestCount;
    }

    @Override
    public long inFlight(final int index) {
        if (index < 0 || index >= digestCount) {
            throw new IndexOutOfBoundsException("index=" + index + " is not less than " + digestCount);
        }
        return digests.getLong(8 * index);
    }

    @Override
    public int flowCount() {
        return flowCount;
    }

    @Override
    public FlowSum flow(final int index, final FlowSum sum) {
        return sum.wrap(flows, index * FlowSum.LENGTH_BYTES);
    }

    @Override
    public int witnessCount() {
        return witnessCount;
    }

    @Override
    public FlowSum witness(final int index, final FlowSum sum) {
        return sum.wrap(witnesses, index * FlowSum.LENGTH_BYTES);
    }
}

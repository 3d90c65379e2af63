package io.flowlag.exporter.exchange.link;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.exporter.exchange.wire.CellsMessage;
import io.flowlag.exporter.exchange.wire.DropsMessage;
import io.flowlag.exporter.exchange.wire.ExchangeResult;
import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.SketchPart;
import io.flowlag.exporter.exchange.wire.FlowSum;
import io.flowlag.exporter.exchange.wire.IntervalBeginMessage;
import io.flowlag.exporter.exchange.wire.IntervalEndMessage;
import io.flowlag.exporter.exchange.wire.IntervalListMessage;
import io.flowlag.exporter.exchange.wire.MessageType;
import io.flowlag.exporter.exchange.wire.PointDrops;
import io.flowlag.sketch.image.ImagePairing;
import io.flowlag.sketch.image.ImageResult;
import io.flowlag.sketch.image.ImageVerifier;
import io.flowlag.sketch.image.PairingResult;
import io.flowlag.sketch.image.SketchFamily;
import io.flowlag.sketch.image.SketchImage;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.function.Function;

/**
 * Fills a {@link ReceivedInterval} from one sender's messages. A protocol violation ends the connection. Data that does not fit
 * this receiver (other settings, other sketches, too much) only spoils the interval, and the reason names both values. Memory
 * follows from this receiver's settings, never from announced sizes: there is room for one interval, which is freed when
 * intervals of other settings come. One thread; allocates when settings change.
 */
public final class IntervalAssembler {
    private final SettingsSchedule schedule;
    private final long maxListBytes;
    private final Function<ExchangeSettings, ReceivedInterval> rooms;
    private final IntervalBeginMessage begin = new IntervalBeginMessage();
    private final DropsMessage dropsMessage = new DropsMessage();
    private final CellsMessage cells = new CellsMessage();
    private final IntervalListMessage list = new IntervalListMessage();
    private final IntervalEndMessage end = new IntervalEndMessage();
    private final FlowSum sum = new FlowSum();
    private final Progress digests = new Progress();
    private final Progress flows = new Progress();
    private final Progress witnesses = new Progress();
    private HeldSettings held;
    private ReceivedInterval interval;
    private boolean isOpen;
    private ExchangeResult spoiled;
    private String spoiledText = "";
    private long number;
    private long intervalNs;
    private int sketchCount;
    private int messageCount;
    private int sketchIndex;
    private int sketchBytes;
    private boolean isMarkedDamaged;
    private PointDrops drops;

    /** How many entries of a list were announced, and how many have come. */
    private static final class Progress {
        private int announced;
        private int come;

        private void expect(final int count) {
            announced = count;
            come = 0;
        }
    }

    /**
     * An assembler for one sender.
     *
     * @param maxListBytes most octets of digests and flows of an interval.
     * @param rooms        makes room for an interval of settings.
     */
    public IntervalAssembler(
        final SettingsSchedule schedule, final long maxListBytes, final Function<ExchangeSettings, ReceivedInterval> rooms) {
        this.schedule = schedule;
        this.maxListBytes = maxListBytes;
        this.rooms = rooms;
    }

    public boolean isOpen() {
        return isOpen;
    }

    /** Drops the open interval. */
    void abandon() {
        isOpen = false;
    }

    long number() {
        return number;
    }

    /** Length of the interval as announced by its sender. */
    long intervalNs() {
        return intervalNs;
    }

    /** The interval that has ended, if it is not spoiled. */
    public ReceivedInterval interval() {
        return interval;
    }

    /** Fills another interval of the same settings from now on. */
    public void reuse(final ReceivedInterval room) {
        interval = room;
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
        sketchCount = begin.sketchCount();
        digests.expect(begin.inFlightCount());
        flows.expect(begin.flowCount());
        witnesses.expect(begin.witnessCount());
        isMarkedDamaged = begin.isDamaged();
        messageCount = 0;
        sketchIndex = 0;
        sketchBytes = 0;
        drops = null;
        checkSettings();
    }

    private void checkSettings() {
        final HeldSettings ours = schedule.at(number, intervalNs);
        final long listBytes = (long)IntervalListMessage.DIGEST_BYTES * digests.announced +
            (long)FlowSum.LENGTH_BYTES * (flows.announced + (long)witnesses.announced);
        if (ours == null) {
            spoil(ExchangeResult.SETTINGS, "settings of interval " + number, begin.settingsNumber(), "none");
        } else if (ours.receiverInstance() != begin.receiverInstance()) {
            spoil(ExchangeResult.SETTINGS, "receiver's run of interval " + number,
                Long.toHexString(begin.receiverInstance()), Long.toHexString(ours.receiverInstance()));
        } else if (ours.settings().number() != begin.settingsNumber()) {
            spoil(ExchangeResult.SETTINGS, "settings of interval " + number, begin.settingsNumber(), ours.settings().number());
        } else if (ours.settings().intervalNs() != intervalNs) {
            spoil(ExchangeResult.SETTINGS, "intervalNs", intervalNs, ours.settings().intervalNs());
        } else if (sketchCount != ours.settings().sketchCount() &&
            (ours.settings().mode() != ExchangeSettings.Mode.AUTO || sketchCount != 0)) {
            spoil(ExchangeResult.PAIRING, "sketches", sketchCount, ours.settings().sketchCount());
        } else if (listBytes > maxListBytes) {
            spoil(ExchangeResult.INTERVAL, "octets of digests and flows", listBytes, "at most " + maxListBytes);
        } else {
            if (held != ours) {
                held = ours;
                if (interval != null) {
                    interval.free();
                }
                interval = rooms.apply(ours.settings());
            }
            interval.begin(begin);
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
            case IN_FLIGHT -> addEntries(type, digests, buffer, offset);
            case FLOW_SUMS -> addEntries(type, flows, buffer, offset);
            case WITNESS -> addEntries(type, witnesses, buffer, offset);
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
            final UnsafeBuffer image = interval.octets(sketchIndex);
            if (cells.imageBytes() != image.capacity()) {
                spoil(ExchangeResult.PAIRING, "octets of sketch " + sketchIndex, cells.imageBytes(), image.capacity());
            } else {
                cells.decode(image);
                if (isLast) {
                    checkImage(image);
                }
            }
        }
        if (isLast) {
            sketchIndex++;
            sketchBytes = 0;
        }
        return ExchangeResult.ACCEPTED;
    }

    private void checkImage(final UnsafeBuffer octets) {
        final ImageResult verified = ImageVerifier.verify(octets, 0, octets.capacity());
        if (verified != ImageResult.ACCEPTED) {
            spoil(ExchangeResult.PAIRING, "sketch " + sketchIndex, verified, ImageResult.ACCEPTED);
            return;
        }
        final SketchImage image = interval.wrap(sketchIndex);
        final SketchPart part = held.settings().sketches().get(sketchIndex);
        final long seed = held.settings().secrets().sketchSeed();
        final int fingerprint = KeyedMix.fingerprint(
            part.geometry().family() == SketchFamily.LDS ? image.seed(seed) : seed);
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

    private ExchangeResult addEntries(
        final MessageType type, final Progress progress, final DirectBuffer buffer, final int offset) {
        list.wrap(buffer, offset);
        final int count = list.count();
        if (list.intervalNumber() != number || list.firstIndex() != progress.come || count > progress.announced - progress.come) {
            return ExchangeResult.INTERVAL;
        }
        for (int i = 0; spoiled == null && i < count; i++) {
            if (type == MessageType.IN_FLIGHT) {
                interval.inFlight(progress.come + i, list.digest(i));
            } else {
                addFlow(type, list.flow(i, sum));
            }
        }
        progress.come += count;
        return ExchangeResult.ACCEPTED;
    }

    private void addFlow(final MessageType type, final FlowSum flow) {
        final int classCount = held.settings().classCount();
        if (flow.classIndex() < classCount) {
            interval.add(type, flow);
        } else {
            spoil(ExchangeResult.VALUE, "class of a flow", flow.classIndex(), "below " + classCount);
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
            sketchIndex == sketchCount && digests.come == digests.announced && flows.come == flows.announced &&
            witnesses.come == witnesses.announced;
        if (isWhole && spoiled == null) {
            interval.end(drops, isMarkedDamaged);
        }
        return isWhole ? ExchangeResult.ACCEPTED : ExchangeResult.INTERVAL;
    }
}

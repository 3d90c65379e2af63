package io.flowlag.exporter.pipeline;

import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.LivePacketSource;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.capture.posix.PollSet;
import io.flowlag.exporter.config.Sampling;
import io.flowlag.exporter.decode.PacketDecoder;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.flow.FlowSampler;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.rli.reference.ReferenceSession;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.collections.IntHashSet;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * The first stage: takes packets from the sources, decodes them and passes them on in batches. It drops own export traffic and
 * recognises reference packets. Where the order between two measurement points matters, it merges the packets of all sources by
 * timestamp. Writer of the counters of capture and decoding. Allocates at construction. One thread runs it; it owns its
 * sources, and closes them.
 */
public final class CaptureAgent implements Stage, PacketHandler {
    private static final int BATCH_LIMIT = 64;
    private static final int POLL_LIMIT = 256;
    private static final int FILE_MERGE_PACKETS = 4 * POLL_LIMIT;
    private static final int LIVE_MERGE_PACKETS = 64 * 1024;
    /** How often a next stage that takes nothing is asked again. */
    private static final long HELD_NS = 50_000L;
    /** The merge does not wait longer than this for a live source. */
    private static final long LIVE_MERGE_WAIT_NS = 200_000_000L;
    /** A packet is in the kernel's ring so long after its timestamp, at most but for a processor that is overloaded. */
    private static final long STAMP_LAG_NS = 2_000_000L;
    /** How often the next stage learns how far capture has come: rarely enough for its idle thread to sleep. */
    private static final long CAPTURED_STEP_NS = 10_000_000L;
    /** If the clock falls this far behind its previous reading or a packet's timestamp, it was set back. */
    private static final long CLOCK_SET_NS = 1_000_000_000L;
    /** A larger move of the clock against the time since boot is a step. */
    private static final long CLOCK_STEP_NS = 10_000_000L;
    /** A clock that is slewed gains or loses at most one ns in so many. */
    private static final long MOST_SLEW = 1000;
    /** The longest time for a reading of both clocks. */
    private static final long READING_NS = 1_000_000L;

    private final PacketSource[] sources;
    private final boolean[] isSourceEnded;
    private final long[] newestNs;
    private final long[] lastNs;
    private final long[] capturedNs;
    private final int[] mtuBytes;
    private final PollSet polled;
    private final PacketDecoder decoder;
    private final DescriptorHandler next;
    private final Counters counters;
    private final ReferenceRecognizer recognizer;
    private final boolean isMerged;
    /** Of no sources where packets are not merged. */
    private final SourceMerge merge;
    private final CaptureClock clock;
    private final OffHeapBuffer scratch = OffHeapBuffer.allocate(2 * CACHE_LINE_LENGTH);
    private final OffHeapBuffer batch = OffHeapBuffer.allocate(BATCH_LIMIT * PacketDescriptor.LENGTH_BYTES);

    private final IntHashSet refusedLinkTypes = new IntHashSet();

    private String roleName = "capture";
    private int sampleDistance = 1;
    /** Of the logarithm of a random number to a random distance; 0 where each distance is the same. */
    private double randomDistanceFactor;
    private boolean isOfSomeFlows;
    private FlowSampler flows = FlowSampler.ALL;
    private SplittableRandom random = new SplittableRandom(0);
    private int packetsToSample = 1;
    private int batchCount;
    private long decodedCount;
    private int sourceIndex;
    private long toldNs;
    private long awaitedCount;
    /** When the clock was last compared with the time since boot, by both; 0 before. */
    private long watchedNs;
    private long watchedMonotonicNs;
    private volatile OwnTraffic ownTraffic = OwnTraffic.NONE;
    private volatile boolean isStopRequested;
    private volatile boolean isEnded;

    /**
     * A stage over the sources of measurement points.
     *
     * @param sources    owned by this stage from now on; it closes them.
     * @param recognizer of references; {@link ReferenceRecognizer#NONE} where there are none.
     * @param isMerged   whether packets of all sources are passed on in the order of their timestamps.
     * @param clock      of live sources, which may be idle, or of files.
     */
    public CaptureAgent(
        final List<? extends PacketSource> sources,
        final PacketDecoder decoder,
        final DescriptorHandler next,
        final ReferenceRecognizer recognizer,
        final boolean isMerged,
        final CaptureClock clock,
        final Counters counters) {
        this.recognizer = recognizer;
        final boolean isLive = clock.isLive();
        this.isMerged = isMerged;
        merge = new SourceMerge(isMerged ? sources.size() : 0, isLive ? LIVE_MERGE_PACKETS : FILE_MERGE_PACKETS, isLive);
        this.clock = clock;
        this.sources = sources.toArray(new PacketSource[0]);
        isSourceEnded = new boolean[this.sources.length];
        newestNs = new long[this.sources.length];
        Arrays.fill(newestNs, Long.MIN_VALUE);
        capturedNs = new long[this.sources.length];
        Arrays.fill(capturedNs, Long.MIN_VALUE);
        lastNs = new long[this.sources.length];
        mtuBytes = new int[this.sources.length];
        polled = new PollSet(this.sources.length);
        this.decoder = decoder;
        this.next = next;
        this.counters = counters;
    }

    /** The memory of packets of several sources that wait to be merged, by formula. Returns octets off the heap. */
    public static long mergeMemoryBytes(final int sourceCount, final boolean isLive) {
        return SourceMerge.memoryBytes(sourceCount, isLive ? LIVE_MERGE_PACKETS : FILE_MERGE_PACKETS);
    }

    /** {@return how many packets are passed on in a duty cycle at most, where they are not merged} */
    static int mostInCycle(final int sourceCount) {
        return BATCH_LIMIT + sourceCount * POLL_LIMIT;
    }

    /**
     * Sets which packets are taken, before it works: the first of so many by their count (RFC 5475, 5.1), or each with the same
     * probability (5.2.2); and of which conversations.
     *
     * @param seed  of the process, unpredictable; all stages have the same.
     * @param stage number of this one of several, so that they choose packets independently.
     */
    public void sample(final Sampling sampling, final long seed, final int stage) {
        sampleDistance = sampling.packets();
        randomDistanceFactor = sampling.isRandom() ? 1 / Math.log1p(-1.0 / sampling.packets()) : 0;
        random = new SplittableRandom(seed + stage);
        isOfSomeFlows = sampling.conversations() > 1;
        flows = new FlowSampler(sampling.conversations(), seed);
        packetsToSample = sampling.isRandom() ? randomDistance() : 1;
    }

    /** With probability p a packet is the k-th with (1 - p)^(k - 1) p: one number for all that are left out before it. */
    private int randomDistance() {
        return 1 + (int)Math.min(Integer.MAX_VALUE - 1, Math.log(1 - random.nextDouble()) * randomDistanceFactor);
    }

    /** Sets the name of the thread of one of several stages, before it works. */
    public void roleName(final String name) {
        roleName = name;
    }

    @Override
    public String roleName() {
        return roleName;
    }

    @Override
    public int doWork() {
        if (isEnded || next.isHeld()) {
            return 0;
        }
        if (isStopRequested) {
            stopSources();
        }
        final long nowNs = clock.nanoTime();
        int workCount = 0;
        boolean isAllEnded = true;
        for (int i = 0; i < sources.length; i++) {
            if (!isSourceEnded[i]) {
                if (!isMerged || merge.hasRoom(i, POLL_LIMIT)) {
                    sourceIndex = i;
                    mtuBytes[i] = sources[i] instanceof LivePacketSource live ? live.mtuBytes() : 0;
                    final int polled = sources[i].poll(this, POLL_LIMIT);
                    isSourceEnded[i] = polled == PacketSource.END_OF_SOURCE;
                    workCount += Math.max(polled, 0);
                    // A source that gave fewer packets than requested has none left from before now; otherwise its last packet
                    // tells the time.
                    capturedNs[i] = polled < POLL_LIMIT ? nowNs : lastNs[i];
                    if (isMerged && sources[i].isDrained()) {
                        merge.shown(i, nowNs - STAMP_LAG_NS);
                    }
                }
                isAllEnded &= isSourceEnded[i];
            }
        }
        if (isMerged) {
            workCount += passOnMerged();
            isAllEnded &= merge.isEmpty();
        }
        passOn();
        next.onCycleEnd();
        mirrorSourceCounters();
        if (clock.isLive()) {
            tellCaptured(nowNs);
        }
        isEnded = isAllEnded;
        return workCount;
    }

    /**
     * Time goes back only if the clock was set, and once no source holds packets from before that. The kernel's drops are read
     * after the packets, so drops from before the reported time are already counted.
     */
    private void tellCaptured(final long nowNs) {
        long throughNs = Math.min(nowNs, merge.oldestNs());
        long latestNs = nowNs;
        for (int i = 0; i < sources.length; i++) {
            if (!isSourceEnded[i]) {
                throughNs = Math.min(throughNs, capturedNs[i]);
                latestNs = Math.max(latestNs, capturedNs[i]);
            }
        }
        final boolean isClockSet = nowNs < toldNs - CLOCK_SET_NS && latestNs < nowNs + CLOCK_SET_NS;
        if (isClockSet) {
            counters.increment(CounterId.CLOCK_SET_BACK);
            Arrays.fill(newestNs, Long.MIN_VALUE);
        }
        if (throughNs >= toldNs + CAPTURED_STEP_NS || isClockSet) {
            watchClock();
            for (final PacketSource source : sources) {
                source.updateKernelDropCount();
            }
            mirrorSourceCounters();
            toldNs = throughNs;
            next.onCaptured(throughNs);
        }
    }

    /** Counts a step of the clock against the time since boot. A reading that took long shows nothing. */
    private void watchClock() {
        final long beforeNs = clock.monotonicNs();
        final long nowNs = clock.nanoTime();
        final long afterNs = clock.monotonicNs();
        if (afterNs - beforeNs <= READING_NS) {
            final long passedNs = afterNs - watchedMonotonicNs;
            final long stepNs = Math.abs(nowNs - watchedNs - passedNs);
            if (watchedNs != 0 && stepNs > CLOCK_STEP_NS + passedNs / MOST_SLEW) {
                counters.increment(CounterId.CLOCK_STEPPED);
            }
            watchedNs = nowNs;
            watchedMonotonicNs = afterNs;
        }
    }

    private int passOnMerged() {
        final boolean isLive = clock.isLive();
        final long nowNs = clock.nanoTime();
        for (int i = 0; i < sources.length; i++) {
            if (isSourceEnded[i]) {
                merge.end(i);
            }
        }
        merge.begin(
            isLive ? nowNs - LIVE_MERGE_WAIT_NS : Long.MIN_VALUE, isLive ? nowNs + CLOCK_SET_NS : Long.MAX_VALUE,
            isLive ? POLL_LIMIT : 0);
        int count = 0;
        int source = merge.next();
        while (source >= 0) {
            merge.take(source, batch, batchCount * PacketDescriptor.LENGTH_BYTES);
            if (++batchCount == BATCH_LIMIT) {
                passOn();
            }
            count++;
            source = merge.next();
        }
        return count;
    }

    @Override
    public void onPacket(final CapturedPacket packet) {
        final long timestampNs = packet.timestampNs();
        lastNs[sourceIndex] = timestampNs;
        if (timestampNs < newestNs[sourceIndex]) {
            counters.increment(CounterId.TIME_BACKWARDS);
        } else {
            newestNs[sourceIndex] = timestampNs;
        }
        if (--packetsToSample > 0) {
            counters.increment(CounterId.NOT_SAMPLED);
            return;
        }
        packetsToSample = randomDistanceFactor == 0 ? sampleDistance : randomDistance();

        final OffHeapBuffer descriptor = isMerged ? scratch : batch;
        final int descriptorOffset = isMerged ? 0 : batchCount * PacketDescriptor.LENGTH_BYTES;
        final int result = decoder.decode(packet, descriptor, descriptorOffset);
        if (result == PacketDecoder.DECODED && isOfSomeFlows && !flows.takes(descriptor, descriptorOffset)) {
            counters.increment(CounterId.NOT_SAMPLED);
            return;
        } else if (result == PacketDecoder.DECODED) {
            decodedCount++;
        } else {
            counters.increment(CounterId.of(result));
            if (result == CounterId.REFUSED_LINK_TYPE.ordinal()) {
                refusedLinkTypes.add(packet.linkType());
            }
            counters.add(CounterId.IGNORED_OCTETS, packet.wireLengthBytes() & 0xFFFF_FFFFL);
            return;
        }
        if (ownTraffic.matches(descriptor, descriptorOffset)) {
            counters.increment(CounterId.OWN_TRAFFIC);
            return;
        }
        PacketDescriptor.observationPoint(descriptor, descriptorOffset, observationPoint(packet.way()));
        if (packet.way() == CapturedPacket.Way.LEAVING) {
            PacketDescriptor.flags(descriptor, descriptorOffset,
                PacketDescriptor.flags(descriptor, descriptorOffset) | PacketDescriptor.FLAG_LEAVING);
        }
        if (isOversize(descriptor, descriptorOffset)) {
            PacketDescriptor.flags(
                descriptor, descriptorOffset,
                PacketDescriptor.flags(descriptor, descriptorOffset) & ~PacketDescriptor.FLAG_DIGEST |
                PacketDescriptor.FLAG_OVERSIZE);
        } else if (packet.way() == CapturedPacket.Way.PASSING) {
            // This host does not forward it.
            PacketDescriptor.flags(descriptor, descriptorOffset,
                PacketDescriptor.flags(descriptor, descriptorOffset) & ~PacketDescriptor.FLAG_DIGEST);
        }
        recognizer.recognize(decoder, packet, descriptor, descriptorOffset, sourceIndex);
        if (isMerged) {
            merge.add(sourceIndex, descriptor, 0);
        } else if (++batchCount == BATCH_LIMIT) {
            passOn();
        }
    }

    /** A source whose packets tell their way has two points: one of arriving packets, and behind it one of leaving ones. */
    private int observationPoint(final CapturedPacket.Way way) {
        return way == CapturedPacket.Way.UNKNOWN ? sourceIndex :
            2 * sourceIndex + (way == CapturedPacket.Way.LEAVING ? 1 : 0);
    }

    private boolean isOversize(final DirectBuffer descriptor, final int offset) {
        return mtuBytes[sourceIndex] > 0 &&
            PacketDescriptor.ipLengthBytes(descriptor, offset) > mtuBytes[sourceIndex] ||
            PacketDescriptor.segmentCount(descriptor, offset) > 1;
    }

    @Override
    public void await(final int timeoutMs) {
        if (next.isHeld()) {
            LockSupport.parkNanos(HELD_NS);
            return;
        }
        LivePacketSource unpolled = null;
        for (int i = 0; i < sources.length; i++) {
            final LivePacketSource live =
                !isEnded && !isSourceEnded[i] && sources[i] instanceof LivePacketSource source ? source : null;
            polled.put(i, live == null ? -1 : live.descriptor());
            unpolled = live != null && live.descriptor() < 0 ? live : unpolled;
        }
        if (unpolled != null) {
            final long captured = counters.get(CounterId.CAPTURED);
            unpolled.awaitArrival(captured == awaitedCount || sources.length == 1 ? timeoutMs :
                Math.min(timeoutMs, DELAY_IDLE_MS));
            awaitedCount = captured;
            return;
        }
        polled.await(timeoutMs);
        for (int i = 0; i < sources.length; i++) {
            if (polled.hasError(i)) {
                ((LivePacketSource)sources[i]).awaitArrival(0);
            }
        }
    }

    /** Packets of one source wait for the others to show theirs. */
    @Override
    public int idleMs() {
        return merge.isEmpty() ? LONG_IDLE_MS : SHORT_IDLE_MS;
    }

    @Override
    public void wakeNext(final boolean isPausing) {
        next.wake(isEnded, isPausing);
    }

    @Override
    public void onClose() {
        isEnded = true;
        CloseHelper.closeAll(sources);
    }

    @Override
    public boolean isEnded() {
        return isEnded;
    }

    /** Requests the end: live sources give the packets that had arrived, files stop where they are; safe from any thread. */
    public void requestStop() {
        isStopRequested = true;
    }

    @Override
    public void abandon() {
        isEnded = true;
    }

    /** Replaces the definition of own traffic; safe from any thread. */
    public void ownTraffic(final OwnTraffic ownTraffic) {
        this.ownTraffic = ownTraffic;
    }

    /** Recognizes references by the keys of the same sessions as they are now. Any thread. */
    public void renew(final List<ReferenceSession> newer) {
        recognizer.renew(newer);
    }

    /** {@return the link types whose packets were refused, by number; call it when the stage has ended} */
    public Set<Integer> refusedLinkTypes() {
        return refusedLinkTypes;
    }

    private void stopSources() {
        for (int i = 0; i < sources.length; i++) {
            if (sources[i] instanceof LivePacketSource live) {
                live.stop();
            } else {
                isSourceEnded[i] = true;
            }
        }
    }

    private void passOn() {
        if (batchCount > 0) {
            final int count = batchCount;
            batchCount = 0; // also where the next stage fails
            next.onDescriptors(batch, 0, count);
        }
    }

    private void mirrorSourceCounters() {
        long captured = 0;
        long filtered = 0;
        long lost = 0;
        long clamped = 0;
        long kernelStamped = 0;
        for (final PacketSource source : sources) {
            captured += source.capturedCount();
            filtered += source.filteredCount();
            lost += source.kernelDropCount();
            clamped += source.timestampClampedCount();
            kernelStamped += source.kernelStampedCount();
        }
        counters.add(CounterId.DECODED, decodedCount);
        decodedCount = 0;
        counters.set(CounterId.CAPTURED, captured + lost);
        counters.set(CounterId.FILTERED, filtered);
        counters.set(CounterId.LOST_IN_KERNEL, lost);
        counters.set(CounterId.TIMESTAMP_CLAMPED, clamped);
        counters.set(CounterId.KERNEL_STAMPED, kernelStamped);
    }
}

package io.flowlag.exporter.capture.file;

import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CaptureException.Kind;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.capture.TimeOrder;
import org.agrona.CloseHelper;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Merges the packets of several captures. The earliest of the captures' next packets goes first; of equally early ones that of
 * the capture named first. The result is in time order if each capture is; a late packet goes as soon as it is met. A packet
 * whose timestamp is far ahead of those around it goes with the following one, so that it does not hold back all others.
 * Packets of one capture keep their order.
 * <p>
 * At construction each file is opened, asked for its first packet, and closed. It is reopened when the merge reaches that time,
 * and closed behind its last packet. Only overlapping captures are therefore open at once. Standard input and pipes cannot be
 * opened twice and stay open.
 * <p>
 * A damaged capture ends, all others continue; {@link #damage()} reports each, separated by semicolons.
 */
final class MergedFileSource extends CaptureFileSource {
    private final CaptureOpener opener;
    private final List<Member> members = new ArrayList<>();
    /** Those not opened yet, the next one last. */
    private final List<Member> waiting = new ArrayList<>();
    /** The open captures that have a packet: a heap, the earliest first. */
    private final Member[] heap;
    private int heapCount;
    /** Whether the packet of the first in the heap has been handed over. */
    private boolean isFirstSpent;

    /** A source; throws a {@link CaptureException} if a capture cannot be read at all. */
    MergedFileSource(final List<String> paths, final CaptureOpener opener, final FilterSupplier filters) {
        super(filters);
        this.opener = opener;
        this.heap = new Member[paths.size()];
        try {
            for (final String path : paths) {
                members.add(new Member(path, members.size()));
                peek(members.get(members.size() - 1));
            }
        } catch (final CaptureException ex) {
            close();
            throw ex;
        }
        waiting.sort(Comparator.<Member>comparingLong(member -> member.nextNs).thenComparing(member -> member.order).reversed());
    }

    private void peek(final Member member) {
        open(member);
        if (member.reader == null) {
            return;
        }
        member.totalBytes = member.reader.totalBytes();
        if (!advance(member)) {
            member.finish();
        } else if (CaptureOpener.isReopenable(member.path)) {
            member.closeReader();
            waiting.add(member);
        } else {
            push(member);
        }
    }

    /** Opens a capture. A damaged one ends at once; one that is missing from the start fails the merge. */
    private void open(final Member member) {
        try {
            member.begin(opener.open(member.path));
        } catch (final CaptureException ex) {
            if (ex.kind() == Kind.NO_INPUT && !waiting.contains(member)) {
                throw ex;
            }
            member.damage = ex.getMessage();
        }
    }

    private static boolean advance(final Member member) {
        try {
            return member.advance();
        } catch (final InternalError ex) {
            if (!member.reader.onMemoryFault()) {
                throw ex;
            }
            return false;
        }
    }

    @Override
    boolean deliver(final PacketHandler handler, final int packetLimit) {
        for (int count = 0; count < packetLimit; count++) {
            if (count > 0 && !isReady()) {
                return true;
            }
            if (!moveToNext()) {
                return false;
            }
            isFirstSpent = true;
            deliver(heap[0].packet(), handler);
        }
        return true;
    }

    private boolean isReady() {
        return heapCount == 0 || heap[0].reader.isReady();
    }

    private boolean moveToNext() {
        if (isFirstSpent) {
            final boolean hasNext = advance(heap[0]);
            isFirstSpent = false;
            if (!hasNext) {
                removeFirst();
            }
            siftDown();
        }
        openThoseDue();
        return heapCount > 0;
    }

    private void openThoseDue() {
        while (!waiting.isEmpty()) {
            final Member member = waiting.get(waiting.size() - 1);
            if (heapCount > 0 && heap[0].nextNs < member.nextNs) {
                return;
            }
            open(member);
            waiting.remove(waiting.size() - 1);
            if (member.reader != null && advance(member)) {
                push(member);
            } else {
                member.finish();
            }
        }
    }

    @Override
    boolean hasFaulted() {
        boolean hasFaulted = false;
        for (int i = 0; i < heapCount; i++) {
            hasFaulted |= heap[i].reader.onMemoryFault();
        }
        return hasFaulted;
    }

    private void push(final Member member) {
        int index = heapCount++;
        heap[index] = member;
        while (index > 0 && heap[index].isBefore(heap[(index - 1) / 2])) {
            swap(index, (index - 1) / 2);
            index = (index - 1) / 2;
        }
    }

    private void removeFirst() {
        heap[0].finish();
        heapCount--;
        heap[0] = heap[heapCount];
        heap[heapCount] = null;
    }

    private void siftDown() {
        int index = 0;
        int earliest = earliestAt(index);
        while (earliest != index) {
            swap(index, earliest);
            index = earliest;
            earliest = earliestAt(index);
        }
    }

    private int earliestAt(final int index) {
        int earliest = index;
        for (int child = 2 * index + 1; child <= 2 * index + 2 && child < heapCount; child++) {
            if (heap[child].isBefore(heap[earliest])) {
                earliest = child;
            }
        }
        return earliest;
    }

    private void swap(final int index, final int otherIndex) {
        final Member member = heap[index];
        heap[index] = heap[otherIndex];
        heap[otherIndex] = member;
    }

    @Override
    public String name() {
        return members.size() + " captures, " + members.get(0).path + " to " + members.get(members.size() - 1).path;
    }

    @Override
    public long consumedBytes() {
        long sumBytes = 0;
        for (int i = 0; i < members.size(); i++) {
            sumBytes += members.get(i).consumedBytes();
        }
        return sumBytes;
    }

    @Override
    public long totalBytes() {
        long sumBytes = 0;
        for (int i = 0; i < members.size(); i++) {
            if (members.get(i).totalBytes == ByteWindow.UNKNOWN_LENGTH) {
                return ByteWindow.UNKNOWN_LENGTH;
            }
            sumBytes += members.get(i).totalBytes;
        }
        return sumBytes;
    }

    @Override
    public long timestampClampedCount() {
        long sum = 0;
        for (int i = 0; i < members.size(); i++) {
            sum += members.get(i).timestampClampedCount();
        }
        return sum;
    }

    @Override
    public String damage() {
        final List<String> damages = new ArrayList<>();
        for (final Member member : members) {
            if (member.damage() != null) {
                damages.add(member.damage());
            }
        }
        return damages.isEmpty() ? null : String.join("; ", damages);
    }

    @Override
    public void close() {
        members.forEach(Member::finish);
        waiting.clear();
        heapCount = 0;
    }

    /** One of the captures, and its report when its reader is closed. */
    private static final class Member {
        private final String path;
        private final int order;
        private CaptureReader reader;
        /** When the next packet is due: its time, or that of the one behind it. */
        private long nextNs;
        /** Timestamp of the packet before the next one, without strays. */
        private long lastNs;
        /** The next packet while the reader is at the following one; null until there is one. */
        private HeldPacket held;
        private boolean isHolding;
        private boolean hasBehind;
        private long totalBytes;
        private long consumedBytes;
        private long timestampClampedCount;
        private String damage;

        private Member(final String path, final int order) {
            this.path = path;
            this.order = order;
        }

        private boolean isBefore(final Member other) {
            return nextNs < other.nextNs || nextNs == other.nextNs && order < other.order;
        }

        /** Moves to the next packet; if its time is far from the last one, the following packet decides whether it is right. */
        private boolean advance() {
            if (isHolding ? !hasBehind : !reader.next()) {
                return false;
            }
            isHolding = false;
            nextNs = reader.timestampNs();
            if (Math.abs(nextNs - lastNs) > TimeOrder.TIME_SET_NS) {
                lookBehind();
            } else {
                lastNs = nextNs;
            }
            return true;
        }

        private void lookBehind() {
            held = held == null ? new HeldPacket() : held;
            held.hold(reader);
            isHolding = true;
            hasBehind = reader.next();
            if (hasBehind && TimeOrder.isStray(lastNs, nextNs, reader.timestampNs())) {
                nextNs = Math.min(nextNs, reader.timestampNs());
            } else {
                lastNs = nextNs;
            }
        }

        private CapturedPacket packet() {
            return isHolding ? held : reader;
        }

        private void begin(final CaptureReader opened) {
            reader = opened;
            lastNs = PacketSource.MIN_TIMESTAMP_NS;
            isHolding = false;
        }

        private void finish() {
            if (reader != null) {
                consumedBytes = reader.consumedBytes();
                timestampClampedCount = reader.timestampClampedCount();
                damage = reader.damage();
                closeReader();
            }
        }

        private void closeReader() {
            CloseHelper.close(reader);
            reader = null;
            held = null;
        }

        private long consumedBytes() {
            return reader == null ? consumedBytes : reader.consumedBytes();
        }

        private long timestampClampedCount() {
            return reader == null ? timestampClampedCount : reader.timestampClampedCount();
        }

        private String damage() {
            return reader == null ? damage : reader.damage();
        }
    }
}

package io.flowlag.station.job;

import io.flowlag.ipfix.collect.CollectingProcess;
import io.flowlag.ipfix.collect.SequenceState;
import io.flowlag.ipfix.collect.TransportSession;
import io.flowlag.ipfix.message.MessageHeader;
import io.flowlag.ipfix.message.SetHeader;
import io.flowlag.network.window.Windows;
import io.flowlag.station.job.state.Sequence;
import io.flowlag.station.wire.MessageType;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * What is kept of the session that is the key: messages with templates, of {@value #MOST_TEMPLATE_BYTES} octets together, and the
 * sequence numbers of its domains with the gaps that were not yet told. One thread.
 */
final class SessionState {
    /** Those of a refresh are the same octets; the oldest go. */
    private static final int MOST_TEMPLATE_BYTES = 1 << 17;
    /** A gap is divided between so many windows, at most. */
    private static final int MOST_WINDOWS = 3600;

    private final Windows windows;
    private final ListState<byte[]> templates;
    private final MapState<Integer, Sequence> sequences;
    private final UnsafeBuffer payload = new UnsafeBuffer();
    private final ExpandableArrayBuffer templateMessage = new ExpandableArrayBuffer();

    /** Takes what is missing. */
    interface Gaps {
        void onMissing(int domain, long windowNs, long records);
    }

    SessionState(final RuntimeContext context, final Windows windows) {
        this.windows = windows;
        templates = context.getListState(
            new ListStateDescriptor<>("templates", PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO));
        sequences = context.getMapState(
            new MapStateDescriptor<>("sequences", Types.INT, MessageType.forMessage(Sequence.class)));
    }

    void restore(final CollectingProcess process, final TransportSession session, final long nowNs) throws Exception {
        for (final byte[] kept : templates.get()) {
            payload.wrap(kept);
            process.restore(session, payload, 0, kept.length, nowNs);
        }
        for (final Map.Entry<Integer, Sequence> each : sequences.entries()) {
            final Sequence kept = each.getValue();
            if (kept.getIsKnown()) {
                process.restore(session, each.getKey(),
                    new SequenceState(kept.getExpected(), kept.getExportSeconds(), kept.getOutstanding()));
            }
        }
    }

    void clear() {
        templates.clear();
        sequences.clear();
    }

    /**
     * Keeps a domain's numbers behind a message.
     *
     * @param exportSeconds of the message.
     * @param missing       records before it; negative for late ones that fill a gap.
     * @param nowNs         of its receipt, since the epoch.
     */
    void onMessage(final int domain, final SequenceState state, final long exportSeconds, final long missing, final long nowNs)
        throws Exception {
        final Sequence before = sequences.get(domain);
        final Sequence.Builder kept = before == null ? Sequence.newBuilder() : before.toBuilder();
        if (missing != 0) {
            final long toNs = Math.min(TimeUnit.SECONDS.toNanos(exportSeconds), nowNs);
            final long fromNs = before == null || !before.getIsKnown() || missing < 0 ? toNs :
                TimeUnit.SECONDS.toNanos(Integer.toUnsignedLong(before.getExportSeconds()));
            divide(kept, Math.max(fromNs, toNs - MOST_WINDOWS * windows.lengthNs()), toNs, missing);
        }
        if (state != null) {
            kept.setIsKnown(true).setExpected(state.expected()).setExportSeconds(state.exportTimeSeconds())
                .setOutstanding(state.outstanding());
        } else {
            kept.setIsKnown(false);
        }
        if (state != null || kept.getMissingCount() > 0) {
            sequences.put(domain, kept.build());
        } else if (before != null) {
            sequences.remove(domain);
        }
    }

    /** What is missing lies between the message before and this one, by the exporter's clock. */
    private void divide(final Sequence.Builder kept, final long fromNs, final long toNs, final long missing) {
        if (fromNs >= toNs) {
            add(kept, windows.startNs(toNs), missing);
        } else {
            windows.divide(fromNs, toNs, missing).forEach((share) -> add(kept, share.startNs(), share.count()));
        }
    }

    private static void add(final Sequence.Builder kept, final long windowNs, final long missing) {
        kept.putMissing(windowNs, kept.getMissingOrDefault(windowNs, 0) + missing);
    }

    /** Tells the gaps that were not yet told. */
    void tellGaps(final Gaps gaps) throws Exception {
        for (final Map.Entry<Integer, Sequence> each : sequences.entries()) {
            if (each.getValue().getMissingCount() > 0) {
                each.getValue().getMissingMap().forEach((windowNs, records) -> gaps.onMissing(each.getKey(), windowNs, records));
                each.setValue(each.getValue().toBuilder().clearMissing().build());
            }
        }
    }

    /** Forgets domains that the session has forgotten. */
    void keepDomains(final TransportSession session) throws Exception {
        final List<Integer> gone = new ArrayList<>();
        for (final int domain : sequences.keys()) {
            if (session.sequence(domain) == null) {
                gone.add(domain);
            }
        }
        for (final int domain : gone) {
            sequences.remove(domain);
        }
    }

    /** Keeps the header and the sets of templates of a message that has any. */
    void keepTemplates(final byte[] octets) throws Exception {
        int length = MessageHeader.LENGTH_BYTES;
        int offset = MessageHeader.LENGTH_BYTES;
        payload.wrap(octets);
        while (offset + SetHeader.LENGTH_BYTES <= octets.length) {
            final int setLength = SetHeader.setLengthBytes(payload, offset);
            final int setId = SetHeader.setId(payload, offset);
            if (setId == SetHeader.TEMPLATE_SET_ID || setId == SetHeader.OPTIONS_TEMPLATE_SET_ID) {
                templateMessage.putBytes(length, octets, offset, setLength);
                length += setLength;
            }
            offset += setLength;
        }
        if (length > MessageHeader.LENGTH_BYTES) {
            templateMessage.putBytes(0, octets, 0, MessageHeader.LENGTH_BYTES);
            MessageHeader.put(templateMessage, 0, length, 0, 0, MessageHeader.observationDomainId(payload, 0));
            keep(Arrays.copyOf(templateMessage.byteArray(), length));
        }
    }

    private void keep(final byte[] message) throws Exception {
        final List<byte[]> kept = new ArrayList<>();
        int bytes = message.length;
        for (final byte[] each : templates.get()) {
            if (Arrays.equals(each, message)) {
                return;
            }
            kept.add(each);
            bytes += each.length;
        }
        if (bytes <= MOST_TEMPLATE_BYTES) {
            templates.add(message);
        } else {
            while (bytes > MOST_TEMPLATE_BYTES) {
                bytes -= kept.remove(0).length;
            }
            kept.add(message);
            templates.update(kept);
        }
    }
}

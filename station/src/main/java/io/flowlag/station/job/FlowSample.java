package io.flowlag.station.job;

import com.google.protobuf.ByteString;
import io.flowlag.common.hash.SipHash;
import io.flowlag.station.job.state.FlowPart;
import org.agrona.concurrent.UnsafeBuffer;
import org.apache.flink.api.common.functions.FilterFunction;
import org.apache.flink.api.java.functions.KeySelector;

import java.nio.charset.StandardCharsets;

/**
 * Chooses the flows that are followed, by a keyed hash of addresses, ports and protocol: the same ones at every segment, and
 * after a restart. Flows fall into groups by the same hash, which are the keys of their state.
 */
final class FlowSample implements FilterFunction<FlowPart>, KeySelector<FlowPart, Integer> {
    /** Each holds its share of the flows that may be followed. */
    static final int GROUPS = 128;
    /** The share of flows is not halved more often. */
    static final int MOST_HALVINGS = 24;

    private static final long serialVersionUID = 1;
    private static final int GROUP_BITS = Integer.numberOfTrailingZeros(GROUPS);
    private static final long KEY = 0x666C_6F77_2070_6174L;

    private final long key;
    private final long below;
    private transient SipHash hash;

    /** Of a network. */
    FlowSample(final JobSettings settings) {
        final byte[] name = settings.name().getBytes(StandardCharsets.UTF_8);
        key = new SipHash(KEY, KEY).hash(new UnsafeBuffer(name), 0, name.length);
        below = (1L << Integer.SIZE) / settings.paths().oneOf();
    }

    private long hash(final ByteString flow) {
        if (hash == null) {
            hash = new SipHash(KEY, key);
        }
        final byte[] octets = flow.toByteArray();
        return hash.hash(new UnsafeBuffer(octets), 0, octets.length);
    }

    @Override
    public boolean filter(final FlowPart part) {
        return part.getIsMapped() && hash(part.getKey()) >>> Integer.SIZE < below;
    }

    @Override
    public Integer getKey(final FlowPart part) {
        return (int)(hash(part.getKey()) & GROUPS - 1);
    }

    /** {@return whether a flow is still followed when the share is halved so often} */
    boolean isFollowed(final ByteString flow, final int halvings) {
        return (hash(flow) >>> GROUP_BITS & (1L << halvings) - 1) == 0;
    }
}

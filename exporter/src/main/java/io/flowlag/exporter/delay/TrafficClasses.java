package io.flowlag.exporter.delay;

import io.flowlag.exporter.decode.PacketDescriptor;
import org.agrona.DirectBuffer;

import java.util.List;

/** Traffic classes by DSCP; a packet with an unlisted DSCP is of the first class. Immutable. Allocates at construction. */
public final class TrafficClasses {
    private static final int DSCP_COUNT = 64;
    private static final int ECN_BITS = 2;

    private final byte[] classByDscp = new byte[DSCP_COUNT];
    private final int[] dscps;

    /** Classes by their DSCPs; one class that has every packet if there are none. */
    public TrafficClasses(final List<Integer> dscps) {
        this.dscps = dscps.stream().mapToInt(Integer::intValue).toArray();
        for (int i = 0; i < this.dscps.length; i++) {
            classByDscp[this.dscps[i]] = (byte)i;
        }
    }

    /** {@return how many classes there are} */
    public int count() {
        return Math.max(1, dscps.length);
    }

    /** The class of a packet. */
    public int of(final DirectBuffer descriptor, final int offset) {
        return ofClassOfService(PacketDescriptor.ipClassOfService(descriptor, offset));
    }

    /** The class of a packet by the octet of its IP header. */
    int ofClassOfService(final int ipClassOfService) {
        return classByDscp[ipClassOfService >> ECN_BITS];
    }

    /** The DSCP of a class. Returns 0 to 63; -1 where there is one class for all. */
    public int dscp(final int classIndex) {
        return dscps.length == 0 ? -1 : dscps[classIndex];
    }
}

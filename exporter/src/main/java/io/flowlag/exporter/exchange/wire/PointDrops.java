package io.flowlag.exporter.exchange.wire;

/**
 * What a measurement point itself lost in an interval. If any is not 0, differences between the points are not the path's losses.
 *
 * @param kernelDrops       packets lost before the process could read them.
 * @param ringDrops         packets lost between the stages of the process.
 * @param latePackets       packets whose interval was closed already.
 * @param unsketchedPackets packets that found no sketch.
 */
public record PointDrops(long kernelDrops, long ringDrops, long latePackets, long unsketchedPackets) {
    public static final PointDrops NONE = new PointDrops(0, 0, 0, 0);

    public PointDrops {
        if ((kernelDrops | ringDrops | latePackets | unsketchedPackets) < 0) {
            throw new IllegalArgumentException("a count of drops is negative");
        }
    }

    public boolean isNone() {
        return (kernelDrops | ringDrops | latePackets | unsketchedPackets) == 0;
    }
}

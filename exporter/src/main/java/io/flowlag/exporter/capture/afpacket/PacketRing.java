package io.flowlag.exporter.capture.afpacket;

import io.flowlag.common.memory.CheckedBuffer;
import io.flowlag.exporter.capture.posix.CLibrary;

/**
 * Walks the ring shared by kernel and process, block by block and frame by frame. Owns the mapping. One thread may call it;
 * allocates at construction only.
 * <p>
 * The kernel writes to a block only while the block's status assigns it to the kernel, and then sets the status with a release.
 * A block is returned, with a release, only after the owner has asked for the frame behind its last.
 */
final class PacketRing implements AutoCloseable {
    private final CheckedBuffer ring = new CheckedBuffer(0, 0);
    private final int blockBytes;
    private final int ringBytes;
    private long address;
    private int block;
    private boolean isHoldingBlock;
    private int framesLeft;
    private int frame;
    private int nextFrame;

    /** Requests a ring, rounded down to whole blocks, and maps it. The timeout passes on a block that is not full. */
    PacketRing(final PacketSocket socket, final int ringBytes, final int blockBytes, final int timeoutMs) {
        final int blockCount = ringBytes / blockBytes;
        this.blockBytes = blockBytes;
        this.ringBytes = blockBytes * blockCount;
        socket.requestRing(blockBytes, blockCount, timeoutMs);
        address = socket.map(this.ringBytes);
        ring.wrap(address, this.ringBytes);
    }

    CheckedBuffer buffer() {
        return ring;
    }

    /** Goes to the next frame. Returns whether there is one: {@link #frame()} has its offset then. */
    boolean advance() {
        while (framesLeft == 0) {
            if (!openNextBlock()) {
                return false;
            }
        }
        frame = nextFrame;
        framesLeft--;
        if (framesLeft > 0) {
            nextFrame = RingLayout.nextFrame(ring, frame);
        }
        return true;
    }

    /** {@return offset of the frame that {@link #advance} went to} */
    int frame() {
        return frame;
    }

    /**
     * Whether the block that the kernel fills now is empty. Call it after {@link #advance} returned false. Returns false while
     * frames wait for the block's timeout.
     */
    boolean isDrained() {
        return framesLeft == 0 && RingLayout.blockStatusAcquire(ring, block) == RingLayout.STATUS_KERNEL &&
            RingLayout.blockFrameCount(ring, block) == 0;
    }

    private boolean openNextBlock() {
        if (isHoldingBlock) {
            RingLayout.releaseBlock(ring, block);
            isHoldingBlock = false;
            block = block + blockBytes < ringBytes ? block + blockBytes : 0;
        }
        if ((RingLayout.blockStatusAcquire(ring, block) & RingLayout.STATUS_USER) == 0) {
            return false;
        }
        isHoldingBlock = true;
        framesLeft = RingLayout.blockFrameCount(ring, block);
        nextFrame = RingLayout.blockFirstFrame(ring, block);
        return true;
    }

    @Override
    public void close() {
        if (address != 0) {
            ring.wrap(0, 0);
            CLibrary.munmap(address, ringBytes);
            address = 0;
            framesLeft = 0;
        }
    }
}

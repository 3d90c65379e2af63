package io.flowlag.exporter.capture.afpacket;

import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.LiveCaptureOptions;
import io.flowlag.exporter.capture.filter.BpfProgram;
import io.flowlag.exporter.capture.posix.CLibrary;

/**
 * Walks the ring shared by kernel and process, block by block and frame by frame.
 * <p>
 * The kernel writes to a block only while the block's status assigns it to the kernel, and then sets the status with a release.
 * A block is returned, with a release, only after the owner has asked for the frame behind its last.
 */
final class PacketRing extends SocketRing {
    private static final int VLAN_TAG_LENGTH_BYTES = 4;

    private final boolean isCooked;
    private final int blockBytes;
    private final int ringBytes;
    private long address;
    private int block;
    private boolean isHoldingBlock;
    private int framesLeft;
    private int frame;
    private int nextFrame;

    /** Requests a ring, rounded down to whole blocks, and maps it. The timeout passes on a block that is not full. */
    PacketRing(final PacketSocket socket, final LiveCaptureOptions options, final boolean isCooked) {
        super(socket);
        this.isCooked = isCooked;
        blockBytes = options.effectiveBlockBytes();
        final int blockCount = options.ringBytes() / blockBytes;
        ringBytes = blockBytes * blockCount;
        socket.requestRing(blockBytes, blockCount, options.blockTimeoutMs());
        address = socket.map(ringBytes);
        memory.wrap(address, ringBytes);
    }

    @Override
    void attach(final BpfProgram program) {
        socket.attachFilter(program);
    }

    @Override
    boolean advance() {
        while (framesLeft == 0) {
            if (!openNextBlock()) {
                return false;
            }
        }
        frame = nextFrame;
        framesLeft--;
        if (framesLeft > 0) {
            nextFrame = RingLayout.nextFrame(memory, frame);
        }
        return true;
    }

    @Override
    void show(final CapturedPacket packet) {
        final int vlanTag = RingLayout.vlanTag(memory, frame, RingLayout.status(memory, frame));
        int first = RingLayout.firstOctet(memory, frame);
        int captured = RingLayout.capturedLengthBytes(memory, frame);
        int wire = RingLayout.lengthBytes(memory, frame) + (vlanTag == CapturedPacket.NO_VLAN_TAG ? 0 : VLAN_TAG_LENGTH_BYTES);
        if (isCooked) {
            first -= RingLayout.COOKED_HEADER_LENGTH_BYTES;
            captured += RingLayout.COOKED_HEADER_LENGTH_BYTES;
            wire += RingLayout.COOKED_HEADER_LENGTH_BYTES;
            RingLayout.putCookedHeader(memory, frame, first);
        }
        packet.set(first, captured, wire, RingLayout.timestampNs(memory, frame)).vlanTag(vlanTag);
    }

    @Override
    int packetType() {
        return RingLayout.packetType(memory, frame);
    }

    @Override
    boolean isStampedByCard() {
        return RingLayout.isStampedByCard(RingLayout.status(memory, frame));
    }

    /** Whether the block that the kernel fills now is empty. Returns false while frames wait for the block's timeout. */
    @Override
    boolean isDrained() {
        return framesLeft == 0 && RingLayout.blockStatusAcquire(memory, block) == RingLayout.STATUS_KERNEL &&
            RingLayout.blockFrameCount(memory, block) == 0;
    }

    @Override
    boolean await(final int timeoutMs) {
        return socket.await(timeoutMs);
    }

    @Override
    long takeDropCount() {
        return socket.takeDropCount();
    }

    private boolean openNextBlock() {
        if (isHoldingBlock) {
            RingLayout.releaseBlock(memory, block);
            isHoldingBlock = false;
            block = block + blockBytes < ringBytes ? block + blockBytes : 0;
        }
        if ((RingLayout.blockStatusAcquire(memory, block) & RingLayout.STATUS_USER) == 0) {
            return false;
        }
        isHoldingBlock = true;
        framesLeft = RingLayout.blockFrameCount(memory, block);
        nextFrame = RingLayout.blockFirstFrame(memory, block);
        return true;
    }

    @Override
    public void close() {
        if (address != 0) {
            memory.wrap(0, 0);
            CLibrary.munmap(address, ringBytes);
            address = 0;
            framesLeft = 0;
        }
    }
}

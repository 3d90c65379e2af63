package io.flowlag.exporter.capture.afpacket;

import com.sun.jna.Platform;
import io.flowlag.exporter.capture.bpf.EbpfAssembler;
import io.flowlag.exporter.capture.filter.BpfProgram;
import io.flowlag.exporter.capture.filter.EbpfTranslator;

import static io.flowlag.exporter.capture.afpacket.ProcessorLayout.*;
import static io.flowlag.exporter.capture.bpf.EbpfAssembler.*;

/**
 * The program that the kernel runs on each packet of a socket. It filters, copies what is wanted of the packet with the time into
 * the ring of the processor that it runs on, and returns 0, so that the socket itself keeps nothing. No other run for the same
 * socket and processor interrupts it, but on a kernel with PREEMPT_RT. Stateless; allocates.
 */
final class ProcessorProgram {
    /** Of the context, {@code struct __sk_buff}. */
    private static final int CONTEXT_LENGTH = 0;
    private static final int CONTEXT_PACKET_TYPE = 4;
    private static final int CONTEXT_VLAN_PRESENT = 20;
    private static final int CONTEXT_VLAN_TCI = 24;
    private static final int CONTEXT_VLAN_TPID = 28;

    /** On the stack, below the filter's. */
    private static final int TIME = -EbpfTranslator.STACK_LENGTH_BYTES - Long.BYTES;
    private static final int KEY = TIME - Integer.BYTES;

    private ProcessorProgram() {
    }

    /** {@return the program, for a map of rings} */
    static EbpfAssembler of(final BpfProgram filter, final int mapFd, final int ringBytes, final int mostBytes) {
        final EbpfAssembler to = new EbpfAssembler().computeBy(MOV, R6, R1);
        final int wanted = to.label();
        if (!EbpfTranslator.append(filter, to, wanted)) {
            return to;
        }
        final int lost = to.label();
        final int none = to.label();
        lengthAndTime(to.place(wanted), mostBytes, none);
        ring(to, mapFd, none);
        place(to, ringBytes, lost);
        record(to, lost);
        publish(to, ringBytes, none);
        increment(to.place(lost), LOST_OFFSET);
        return to.place(none).compute(MOV, R0, 0).exit();
    }

    /** R9 = octets to copy, from R0 that are wanted; the verifier wants its bound from the last comparison. */
    private static void lengthAndTime(final EbpfAssembler to, final int mostBytes, final int none) {
        final int isWanted = to.label();
        final int fits = to.label();
        to.add(ALU + MOV + X, R0, R0, 0, 0)
            .load(W, R9, R6, CONTEXT_LENGTH)
            .jumpIfBy(JMP + JLE, R9, R0, isWanted).computeBy(MOV, R9, R0)
            .place(isWanted).jumpIf(JMP + JLE, R9, mostBytes, fits).compute(MOV, R9, mostBytes)
            .place(fits).jumpIf(JMP + JEQ, R9, 0, none)
            .call(HELPER_MONOTONIC_NS).store(DW, FRAME, TIME, R0);
    }

    /** R8 = ring of this processor. One that has none came after the process had begun; its packets are counted as lost. */
    private static void ring(final EbpfAssembler to, final int mapFd, final int none) {
        final int found = to.label();
        lookUp(to.call(HELPER_PROCESSOR_ID), mapFd);
        to.jumpIf(JMP + JNE, R0, 0, found).compute(MOV, R0, 0);
        lookUp(to, mapFd);
        to.jumpIf(JMP + JEQ, R0, 0, none)
            .compute(MOV, R1, 1).add(STX + ATOMIC + DW, R0, R1, OTHERS_LOST_OFFSET, ATOMIC_ADD)
            .jump(none)
            .place(found).computeBy(MOV, R8, R0);
    }

    private static void lookUp(final EbpfAssembler to, final int mapFd) {
        to.store(W, FRAME, KEY, R0).loadMap(R1, mapFd).computeBy(MOV, R2, FRAME).compute(ADD, R2, KEY).call(HELPER_MAP_LOOKUP);
    }

    /** R7 = position of the record, R1 = its address less the offset of the records. */
    private static void place(final EbpfAssembler to, final int ringBytes, final int lost) {
        final int begun = to.label();
        final int read = to.label();
        to.load(DW, R7, R8, HEAD_OFFSET).load(DW, R1, R8, TAIL_OFFSET)
            .jumpIfBy(JMP + JNE, R7, R1, begun)
            // All is read: at 0 again. Without CAP_PERFMON the verifier wants to know no more of R7 than on the other way.
            .compute(ADD, R7, ringBytes - 1).compute(AND, R7, -ringBytes)
            .store(DW, R8, BASE_OFFSET, R7).load(DW, R7, R8, BASE_OFFSET)
            .place(begun).load(DW, R2, R8, BASE_OFFSET)
            .jumpIfBy(JMP + JGE, R1, R2, read).computeBy(MOV, R1, R2)
            .place(read);
        recordBytes(to)
            .computeBy(ADD, R3, R7).computeBy(SUB, R3, R1)
            .jumpIf(JMP + JGT, R3, ringBytes, lost)
            .computeBy(MOV, R1, R7).compute(AND, R1, ringBytes - 8).computeBy(ADD, R1, R8);
    }

    /** R3 = octets of the record. */
    private static EbpfAssembler recordBytes(final EbpfAssembler to) {
        return to.computeBy(MOV, R3, R9).compute(ADD, R3, OCTETS_OFFSET + 7).compute(AND, R3, -8);
    }

    private static void record(final EbpfAssembler to, final int lost) {
        to.load(DW, R0, FRAME, TIME).store(DW, R1, RECORDS_OFFSET + TIME_OFFSET, R0)
            .store(W, R1, RECORDS_OFFSET + CAPTURED_LENGTH_OFFSET, R9);
        copy(to, CONTEXT_LENGTH, W, LENGTH_OFFSET);
        copy(to, CONTEXT_VLAN_TCI, H, VLAN_TCI_OFFSET);
        copy(to, CONTEXT_VLAN_TPID, H, VLAN_TPID_OFFSET);
        copy(to, CONTEXT_VLAN_PRESENT, B, VLAN_PRESENT_OFFSET);
        copy(to, CONTEXT_PACKET_TYPE, B, PACKET_TYPE_OFFSET);
        to.computeBy(MOV, R3, R1).compute(ADD, R3, RECORDS_OFFSET + OCTETS_OFFSET)
            .computeBy(MOV, R1, R6).compute(MOV, R2, 0).computeBy(MOV, R4, R9).call(HELPER_LOAD_BYTES)
            .jumpIf(JMP + JNE, R0, 0, lost);
    }

    private static void copy(final EbpfAssembler to, final int from, final int size, final int offset) {
        to.load(W, R0, R6, from).store(size, R1, RECORDS_OFFSET + offset, R0);
    }

    /** As {@link ProcessorLayout#next}. On ARM stores may pass one another, so the head is exchanged, which is a barrier. */
    private static void publish(final EbpfAssembler to, final int ringBytes, final int none) {
        final int isInside = to.label();
        final int isNext = to.label();
        recordBytes(to)
            .computeBy(MOV, R2, R7).compute(AND, R2, ringBytes - 8).computeBy(ADD, R2, R3)
            .jumpIf(JMP + JLT, R2, ringBytes, isInside)
            .compute(OR, R7, ringBytes - 1).compute(ADD, R7, 1).jump(isNext)
            .place(isInside).computeBy(ADD, R7, R3)
            .place(isNext);
        increment(to, WRITTEN_OFFSET);
        if (Platform.isIntel()) {
            to.store(DW, R8, HEAD_OFFSET, R7);
        } else {
            to.add(STX + ATOMIC + DW, R8, R7, HEAD_OFFSET, ATOMIC_EXCHANGE);
        }
        to.jump(none);
    }

    private static void increment(final EbpfAssembler to, final int offset) {
        to.load(DW, R1, R8, offset).compute(ADD, R1, 1).store(DW, R8, offset, R1);
    }
}

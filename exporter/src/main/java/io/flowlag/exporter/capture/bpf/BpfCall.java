package io.flowlag.exporter.capture.bpf;

import com.sun.jna.Platform;
import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CaptureException.Kind;
import io.flowlag.exporter.capture.posix.Errno;
import io.flowlag.exporter.capture.posix.LinuxLibrary;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.ref.Reference;
import java.nio.ByteOrder;

/**
 * The commands of bpf(2) on 64-bit little-endian machines. What they make is a file descriptor, which the caller closes. They
 * throw a {@link CaptureException} of kind {@link Kind#NO_PERMISSION} or {@link Kind#UNAVAILABLE}, whose message does not name
 * an interface. Stateless; safe from any thread; allocates.
 * <pre>
 *   BPF_MAP_CREATE       type 4, key size 4, value size 4, entries 4, flags 4
 *   BPF_MAP_UPDATE_ELEM  map 4, (padding 4), address of key 8, address of value 8, flags 8
 *   BPF_PROG_LOAD        type 4, instruction count 4, address 8, address of licence 8, log level 4, log size 4, address of log 8,
 *                        (version 4), flags 4
 *   BPF_LINK_CREATE      program 4, target 4, attach type 4, flags 4
 * </pre>
 */
public final class BpfCall {
    public static final int MAP_ARRAY = 2;
    public static final int MAP_XDP_SOCKETS = 17;
    /** Of a map: the process may map its values into its memory. */
    public static final int MAP_FLAG_MMAPABLE = 1 << 10;
    public static final int PROGRAM_SOCKET_FILTER = 1;
    public static final int PROGRAM_XDP = 6;

    private static final int SYSCALL_X86 = 321;
    private static final int SYSCALL_ARM = 280;
    private static final int MAP_CREATE = 0;
    private static final int MAP_UPDATE = 2;
    private static final int PROGRAM_LOAD = 5;
    private static final int LINK_CREATE = 28;

    private static final int ATTRIBUTES_LENGTH_BYTES = 48;
    private static final int LOG_LENGTH_BYTES = 1 << 20;
    private static final byte[] LICENCE = {'A', 'p', 'a', 'c', 'h', 'e', '-', '2', '.', '0', 0};
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();

    private BpfCall() {
    }

    /** {@return whether the system call is known here} */
    public static boolean isKnown() {
        return Platform.isLinux() && Platform.is64Bit() && (Platform.isIntel() || Platform.isARM()) &&
            ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
    }

    /** Makes a map whose keys have four octets. Returns its descriptor. */
    public static int createMap(final int type, final int valueBytes, final int entryCount, final int flags) {
        final UnsafeBuffer attributes = allocate(ATTRIBUTES_LENGTH_BYTES);
        attributes.putInt(0, type, ORDER);
        attributes.putInt(4, Integer.BYTES, ORDER);
        attributes.putInt(8, valueBytes, ORDER);
        attributes.putInt(12, entryCount, ORDER);
        attributes.putInt(16, flags, ORDER);
        return check("map of " + entryCount + " values of " + valueBytes + " octets", call(MAP_CREATE, attributes), "");
    }

    /** Sets a value of four octets, such as a descriptor. */
    public static void update(final int mapFd, final int key, final int value) {
        final UnsafeBuffer attributes = allocate(ATTRIBUTES_LENGTH_BYTES);
        final UnsafeBuffer pair = allocate(2 * Integer.BYTES);
        pair.putInt(0, key, ORDER);
        pair.putInt(Integer.BYTES, value, ORDER);
        attributes.putInt(0, mapFd, ORDER);
        attributes.putLong(8, pair.addressOffset(), ORDER);
        attributes.putLong(16, pair.addressOffset() + Integer.BYTES, ORDER);
        check("map value", call(MAP_UPDATE, attributes), "");
        Reference.reachabilityFence(pair);
    }

    /** Has the kernel verify a program without flags. */
    public static int loadProgram(final int type, final EbpfAssembler program) {
        return loadProgram(type, program, 0);
    }

    /** Has the kernel verify a program. Returns its descriptor; a refusal's message ends with what the verifier said last. */
    public static int loadProgram(final int type, final EbpfAssembler program, final int flags) {
        final UnsafeBuffer instructions = allocate(program.instructionCount() * EbpfAssembler.INSTRUCTION_LENGTH_BYTES);
        program.encode(instructions, 0);
        final UnsafeBuffer licence = allocate(LICENCE.length);
        licence.putBytes(0, LICENCE);
        final UnsafeBuffer attributes = allocate(ATTRIBUTES_LENGTH_BYTES);
        attributes.putInt(0, type, ORDER);
        attributes.putInt(4, program.instructionCount(), ORDER);
        attributes.putLong(8, instructions.addressOffset(), ORDER);
        attributes.putLong(16, licence.addressOffset(), ORDER);
        attributes.putInt(44, flags, ORDER);
        int fd = call(PROGRAM_LOAD, attributes);
        String text = "";
        if (fd < 0 && Errno.last() != Errno.EPERM) {
            // Writing the log costs time; only a refusal is worth it.
            final UnsafeBuffer log = allocate(LOG_LENGTH_BYTES);
            attributes.putInt(24, 1, ORDER);
            attributes.putInt(28, LOG_LENGTH_BYTES, ORDER);
            attributes.putLong(32, log.addressOffset(), ORDER);
            fd = call(PROGRAM_LOAD, attributes);
            text = lastOf(log);
        }
        Reference.reachabilityFence(instructions);
        Reference.reachabilityFence(licence);
        return check("program of " + program.instructionCount() + " instructions", fd, text);
    }

    /** Attaches a program to a target, such as an interface's index, until the descriptor is closed. Returns that. */
    public static int link(final int programFd, final int target, final int attachType, final int flags) {
        final UnsafeBuffer attributes = allocate(ATTRIBUTES_LENGTH_BYTES);
        attributes.putInt(0, programFd, ORDER);
        attributes.putInt(4, target, ORDER);
        attributes.putInt(8, attachType, ORDER);
        attributes.putInt(12, flags, ORDER);
        return check("link", call(LINK_CREATE, attributes), "");
    }

    private static int call(final int command, final UnsafeBuffer attributes) {
        final long number = Platform.isIntel() ? SYSCALL_X86 : SYSCALL_ARM;
        final int result = (int)LinuxLibrary.syscall(number, command, attributes.addressOffset(), ATTRIBUTES_LENGTH_BYTES);
        Reference.reachabilityFence(attributes);
        return result;
    }

    private static int check(final String what, final int result, final String detail) {
        if (result < 0) {
            final int errno = Errno.last();
            // EACCES is what the verifier answers to a wrong access to memory.
            final boolean isForbidden = errno == Errno.EPERM;
            throw new CaptureException(isForbidden ? Kind.NO_PERMISSION : Kind.UNAVAILABLE, "eBPF " + what + ": " +
                Errno.describe(errno) + (isForbidden ? " (it needs the capability CAP_BPF)" : detail));
        }
        return result;
    }

    /** {@return the last line before the verifier's statistics, with a separator, or nothing} */
    private static String lastOf(final UnsafeBuffer log) {
        int length = 0;
        while (length < LOG_LENGTH_BYTES && log.getByte(length) != 0) {
            length++;
        }
        final String[] lines = log.getStringWithoutLengthAscii(0, length).split("\n");
        int last = lines.length - 1;
        while (last > 0 && lines[last].startsWith("processed ")) {
            last--;
        }
        return lines[last].isBlank() ? "" : ": " + lines[last].strip();
    }

    private static UnsafeBuffer allocate(final int lengthBytes) {
        return new UnsafeBuffer(BufferUtil.allocateDirectAligned(lengthBytes, Long.BYTES));
    }
}

package io.flowlag.tests.benchmark;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/**
 * Sums the packets of the flow records in IPFIX Messages (RFC 7011), of any exporter: packetDeltaCount and packetTotalCount, and
 * their reverse elements (RFC 5103). Independent of the program's own codec. One thread uses an instance.
 */
final class IpfixPackets {
    private static final int VERSION = 10;
    private static final int MESSAGE_HEADER_BYTES = 16;
    private static final int SET_HEADER_BYTES = 4;
    private static final int TEMPLATE_SET = 2;
    private static final int OPTIONS_TEMPLATE_SET = 3;
    private static final int FIRST_DATA_SET = 256;
    private static final int VARIABLE_LENGTH = 65_535;
    private static final int LONG_LENGTH = 255;
    private static final int ENTERPRISE_BIT = 0x8000;
    private static final int REVERSE_ENTERPRISE = 29_305;
    private static final int PACKET_DELTA_COUNT = 2;
    private static final int PACKET_TOTAL_COUNT = 86;
    /** Elements of this program's enterprise: mean delay, and the bound of its error. */
    private static final int DELAY_ENTERPRISE = 32_473;
    private static final int DELAY_MEAN = 5;
    private static final int DELAY_ERROR_BOUND = 14;
    private static final int BUFFER_BYTES = 1 << 20;

    private final Map<Long, Template> templates = new HashMap<>();
    private long packetCount;
    private long recordCount;
    private long boundedPacketCount;

    /** Lengths of a record's fields, which of them count packets, and whether there are a delay and a bound of its error. */
    private record Template(boolean isOptions, int[] lengths, boolean[] isPackets, int shortestBytes, boolean isBounded) {
    }

    /**
     * Sums a file.
     *
     * @param file of messages, one behind the other.
     * @throws IOException if it cannot be read, or is no IPFIX.
     */
    static IpfixPackets of(final Path file) throws IOException {
        final IpfixPackets sums = new IpfixPackets();
        try (InputStream stream = Files.newInputStream(file);
            DataInputStream in = new DataInputStream(new BufferedInputStream(stream, BUFFER_BYTES))) {
            final byte[] message = new byte[VARIABLE_LENGTH];
            while (readMessage(in, message)) {
                sums.add(ByteBuffer.wrap(message, 0, lengthBytes(message)));
            }
        }
        return sums;
    }

    private static int lengthBytes(final byte[] message) {
        return (message[2] & 0xFF) << 8 | message[3] & 0xFF;
    }

    private static boolean readMessage(final DataInputStream in, final byte[] message) throws IOException {
        final int first = in.read();
        if (first < 0) {
            return false;
        }
        message[0] = (byte)first;
        in.readFully(message, 1, MESSAGE_HEADER_BYTES - 1);
        if (lengthBytes(message) < MESSAGE_HEADER_BYTES) {
            throw new EOFException("no IPFIX message");
        }
        in.readFully(message, MESSAGE_HEADER_BYTES, lengthBytes(message) - MESSAGE_HEADER_BYTES);
        return true;
    }

    /**
     * Adds a message.
     *
     * @param message all of it, from the position on.
     * @throws IOException if it is no IPFIX.
     */
    void add(final ByteBuffer message) throws IOException {
        final int start = message.position();
        if (message.remaining() < MESSAGE_HEADER_BYTES || message.getShort(start) != VERSION) {
            throw new IOException("not an IPFIX message");
        }
        final long domain = message.getInt(start + 12) & 0xFFFF_FFFFL;
        message.position(start + MESSAGE_HEADER_BYTES);
        while (message.remaining() >= SET_HEADER_BYTES) {
            final int setStart = message.position();
            final int id = message.getShort() & 0xFFFF;
            final int setBytes = message.getShort() & 0xFFFF;
            if (setBytes < SET_HEADER_BYTES || setBytes > message.limit() - setStart) {
                throw new IOException("a set of " + setBytes + " octets");
            }
            final ByteBuffer set = message.slice(setStart + SET_HEADER_BYTES, setBytes - SET_HEADER_BYTES);
            if (id == TEMPLATE_SET || id == OPTIONS_TEMPLATE_SET) {
                learn(set, domain, id == OPTIONS_TEMPLATE_SET);
            } else if (id >= FIRST_DATA_SET) {
                sum(set, templates.get(domain << 16 | id));
            }
            message.position(setStart + setBytes);
        }
    }

    private void learn(final ByteBuffer set, final long domain, final boolean isOptions) {
        while (set.remaining() >= SET_HEADER_BYTES) {
            final int id = set.getShort() & 0xFFFF;
            final int fieldCount = set.getShort() & 0xFFFF;
            if (id < FIRST_DATA_SET) {
                return;
            }
            if (isOptions) {
                set.getShort();
            }
            final int[] lengths = new int[fieldCount];
            final boolean[] isPackets = new boolean[fieldCount];
            int shortestBytes = 0;
            int delayElements = 0;
            for (int i = 0; i < fieldCount; i++) {
                final int element = set.getShort() & 0xFFFF;
                lengths[i] = set.getShort() & 0xFFFF;
                final int enterprise = (element & ENTERPRISE_BIT) == 0 ? 0 : set.getInt();
                final int number = element & ~ENTERPRISE_BIT;
                isPackets[i] = (enterprise == 0 || enterprise == REVERSE_ENTERPRISE) &&
                    (number == PACKET_DELTA_COUNT || number == PACKET_TOTAL_COUNT);
                delayElements +=
                    enterprise == DELAY_ENTERPRISE && (number == DELAY_MEAN || number == DELAY_ERROR_BOUND) ? 1 : 0;
                shortestBytes += lengths[i] == VARIABLE_LENGTH ? 1 : lengths[i];
            }
            templates.put(domain << 16 | id,
                new Template(isOptions, lengths, isPackets, Math.max(1, shortestBytes), delayElements == 2));
        }
    }

    private void sum(final ByteBuffer set, final Template template) throws IOException {
        if (template == null) {
            throw new IOException("a record before its template");
        }
        while (set.remaining() >= template.shortestBytes) {
            for (int i = 0; i < template.lengths.length; i++) {
                int lengthBytes = template.lengths[i];
                if (lengthBytes == VARIABLE_LENGTH) {
                    lengthBytes = set.get() & 0xFF;
                    lengthBytes = lengthBytes == LONG_LENGTH ? set.getShort() & 0xFFFF : lengthBytes;
                }
                if (template.isPackets[i] && !template.isOptions) {
                    final long packets = number(set, lengthBytes);
                    packetCount += packets;
                    boundedPacketCount += template.isBounded ? packets : 0;
                }
                set.position(set.position() + lengthBytes);
            }
            recordCount += template.isOptions ? 0 : 1;
        }
    }

    private static long number(final ByteBuffer set, final int lengthBytes) {
        long value = 0;
        for (int i = 0; i < lengthBytes; i++) {
            value = value << 8 | set.get(set.position() + i) & 0xFF;
        }
        return value;
    }

    /** {@return packets of all flow records} */
    long packetCount() {
        return packetCount;
    }

    /** {@return packets of the flow records that have a mean delay and a bound of its error, as this program writes them} */
    long boundedPacketCount() {
        return boundedPacketCount;
    }

    /** {@return flow records} */
    long recordCount() {
        return recordCount;
    }
}

package io.flowlag.ipfix.collect;

import org.agrona.concurrent.UnsafeBuffer;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/** Octets put together by hand: numbers big-endian, hexadecimal text, Sets and messages around them. */
final class Octets {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    static Octets octets() {
        return new Octets();
    }

    /** A message with its header; the length is filled in. */
    static byte[] message(final int exportTimeSeconds, final int sequence, final int domainId, final Octets... sets) {
        final Octets body = octets();
        for (final Octets set : sets) {
            body.bytes(set.toBytes());
        }
        final byte[] content = body.toBytes();
        return octets().u16(10).u16(16 + content.length).u32(exportTimeSeconds).u32(sequence).u32(domainId)
            .bytes(content).toBytes();
    }

    /** A Set with its header; the length is filled in. */
    static Octets set(final int setId, final Octets... records) {
        final Octets body = octets();
        for (final Octets each : records) {
            body.bytes(each.toBytes());
        }
        final byte[] content = body.toBytes();
        return octets().u16(setId).u16(4 + content.length).bytes(content);
    }

    /** A template record of IANA fields: element id and length in turns. */
    static Octets template(final int templateId, final int... idsAndLengths) {
        final Octets record = octets().u16(templateId).u16(idsAndLengths.length / 2);
        for (final int each : idsAndLengths) {
            record.u16(each);
        }
        return record;
    }

    Octets u8(final int value) {
        out.write(value);
        return this;
    }

    Octets u16(final int value) {
        return u8(value >> 8).u8(value);
    }

    Octets u32(final long value) {
        return u16((int)(value >> 16)).u16((int)value);
    }

    Octets u64(final long value) {
        return u32(value >> 32).u32(value);
    }

    Octets hex(final String digits) {
        return bytes(HexFormat.of().parseHex(digits.replace(" ", "")));
    }

    Octets text(final String ascii) {
        return bytes(ascii.getBytes(StandardCharsets.UTF_8));
    }

    Octets bytes(final byte[] bytes) {
        out.writeBytes(bytes);
        return this;
    }

    byte[] toBytes() {
        return out.toByteArray();
    }

    static UnsafeBuffer buffer(final byte[] bytes) {
        return new UnsafeBuffer(bytes);
    }
}

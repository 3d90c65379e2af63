package io.flowlag.exporter.capture.file;

import org.agrona.DirectBuffer;

import java.util.HexFormat;
import java.util.List;

/** Formats that are recognised but not read, so that the refusal can name the remedy. Stateless. */
final class ForeignFormat {
    /** How many octets of an input are looked at. */
    static final int MAX_MAGIC_LENGTH_BYTES = 8;

    private static final List<ForeignFormat> KNOWN = List.of(
        packed("fd377a58", "xz", "xz -dc"),
        packed("28b52ffd", "zstd", "zstd -dc"),
        packed("425a68", "bzip2", "bzip2 -dc"),
        packed("04224d18", "lz4", "lz4 -dc"),
        packed("1f9d", "compress", "gzip -dc"),
        packed("1f8b", "gzip, once more", "gzip -dc"),
        packed("504b0304", "zip", "unzip -p"),
        packed("377abcaf271c", "7z", "7z x -so"),
        capture("736e6f6f70000000", "snoop"),
        capture("6274736e6f6f7000", "btsnoop"),
        capture("474d4255", "Network Monitor"),
        capture("52545353", "Network Monitor"),
        capture("58435000", "NetXRay"),
        capture("1c0001ac", "Ixia"),
        capture("1c0001ab", "Ixia"));

    private final String magic;
    private final String advice;

    private ForeignFormat(final String magic, final String advice) {
        this.magic = magic;
        this.advice = advice;
    }

    private static ForeignFormat packed(final String magic, final String format, final String command) {
        return new ForeignFormat(magic, "is packed with " + format
            + ", which is not unpacked here: give it on standard input, unpacked by \"" + command + "\"");
    }

    private static ForeignFormat capture(final String magic, final String format) {
        return new ForeignFormat(magic, "is a " + format + " capture: convert it by \"editcap -F pcapng\"");
    }

    /**
     * Why an input is refused.
     *
     * @param buffer      holds its first octets.
     * @param index       of the first.
     * @param lengthBytes how many there are, at most {@link #MAX_MAGIC_LENGTH_BYTES}.
     * @return the rest of a sentence that begins with the name of the input.
     */
    static String refusal(final DirectBuffer buffer, final int index, final int lengthBytes) {
        final byte[] octets = new byte[lengthBytes];
        buffer.getBytes(index, octets);
        final String beginning = HexFormat.of().formatHex(octets);
        for (final ForeignFormat format : KNOWN) {
            if (beginning.startsWith(format.magic)) {
                return format.advice;
            }
        }
        return "is neither pcap nor pcapng: it begins with 0x" + beginning
            + "; if it is a capture of another kind, convert it by \"editcap -F pcapng\"";
    }
}

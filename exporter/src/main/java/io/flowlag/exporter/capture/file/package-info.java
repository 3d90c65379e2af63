/**
 * Packets from capture files: pcap and pcapng, memory-mapped, or as a stream from standard input or through gzip, one file or
 * several merged by time. The way in is {@link io.flowlag.exporter.capture.file.CaptureFiles}.
 * <p>
 * A {@code ByteWindow} shows a piece of the input, a {@code CaptureReader} walks the records in it (one reader for each format,
 * whatever the window), and a source hands their packets over. Octets of the input are believed only after they were checked:
 * what is impossible ends the input as damage, with the octet at which it lies; it never ends the process. All that a source is
 * made of belongs to the thread that polls it, and owns its memory; a type says what it allocates once the input is open.
 */
package io.flowlag.exporter.capture.file;

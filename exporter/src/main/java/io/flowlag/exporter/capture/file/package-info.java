/**
 * Packets from capture files: pcap and pcapng, memory-mapped, or as a stream from standard input or through gzip, one file or
 * several merged by time. The entry point is {@link io.flowlag.exporter.capture.file.CaptureFiles}.
 * <p>
 * A {@code ByteWindow} shows a piece of the input, a {@code CaptureReader} walks its records (one reader for each format, for
 * any window), and a source hands their packets over. Input is checked before it is used: an impossible record ends the input
 * as damaged, with its position; it never ends the process. All parts of a source belong to the thread that polls it, and own
 * their memory; each type documents what it allocates once the input is open.
 */
package io.flowlag.exporter.capture.file;

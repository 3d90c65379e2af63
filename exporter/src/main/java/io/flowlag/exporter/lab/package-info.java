/**
 * Traffic for demonstrations, tests and benchmarks: a deterministic generator that is a
 * {@link io.flowlag.exporter.capture.PacketSource} and knows the truth about its flows
 * ({@link io.flowlag.exporter.lab.GeneratedTraffic}), and a writer of capture files
 * ({@link io.flowlag.exporter.lab.CaptureWriter}). {@link io.flowlag.exporter.lab.SimulatedSegment} puts a queue in simulated
 * time between two points, with references injected, and knows every delay. Stands apart from the stages: it uses
 * {@code capture} and the library {@code rli} only. A generator, a simulation or a truth is for one thread at a time and owns
 * its memory; profiles and models are immutable, for any thread.
 */
package io.flowlag.exporter.lab;

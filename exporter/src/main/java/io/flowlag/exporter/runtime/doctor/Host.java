package io.flowlag.exporter.runtime.doctor;

import io.flowlag.exporter.capture.posix.NetworkInterfaces;
import io.flowlag.exporter.reference.CardRing;
import io.flowlag.exporter.reference.ClockState;
import io.flowlag.exporter.reference.OffloadState;
import io.flowlag.exporter.reference.QueueCapacity;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** What can be read of a host. Nothing of it throws. */
interface Host {
    /** This host. */
    Host THIS = new Host() {
        @Override
        public String text(final String path) {
            try {
                return Files.readString(Path.of(path)).strip();
            } catch (final IOException | IllegalArgumentException ex) {
                return "";
            }
        }

        @Override
        public List<String> interfaces() {
            return NetworkInterfaces.names();
        }

        @Override
        public OffloadState offloads(final String interfaceName) {
            return OffloadState.of(interfaceName);
        }

        @Override
        public CardRing ring(final String interfaceName) {
            return CardRing.of(interfaceName);
        }

        @Override
        public QueueCapacity queue(final String interfaceName) {
            return QueueCapacity.of(interfaceName);
        }

        @Override
        public ClockState.Reading clock() {
            return ClockState.adjtimex().reading();
        }
    };

    /** {@return what a file of the kernel has, stripped; empty if it cannot be read} */
    String text(String path);

    /** {@return the names of all interfaces} */
    List<String> interfaces();

    OffloadState offloads(String interfaceName);

    CardRing ring(String interfaceName);

    QueueCapacity queue(String interfaceName);

    ClockState.Reading clock();
}

package io.flowlag.exporter.runtime;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.export.DestinationFactory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * The destinations of a configuration. A destination that a reload leaves unchanged keeps its session; others are replaced. Used
 * by one thread at a time: the conductor, or that of a reload.
 */
public final class Destinations {
    /** Everything that determines a destination's behaviour; credentials are those of a TLS destination, else null. */
    private record Identity(
        ExporterConfig.Destination spec, ExporterConfig.Tls credentials, long enterpriseNumber, long observationDomainId) {
        @Override
        public boolean equals(final Object other) {
            return other instanceof Identity that && enterpriseNumber == that.enterpriseNumber &&
                observationDomainId == that.observationDomainId && spec.equals(that.spec) &&
                Objects.equals(credentials, that.credentials);
        }

        /** Of the text alone: the generated hash code of a record with many components is slow at its first use. */
        @Override
        public int hashCode() {
            return spec.address().uri().hashCode();
        }
    }

    private final DestinationFactory factory;
    private final List<String> notices = new ArrayList<>();
    private final Supplier<Destination> otherwise;
    private Destination standardOutput;
    private Map<Identity, Destination> current = new HashMap<>();

    public Destinations(final DestinationFactory factory) {
        this(factory, null);
    }

    /** With one that is made and taken where the configuration has none; null for none. */
    public Destinations(final DestinationFactory factory, final Supplier<Destination> otherwise) {
        this.factory = factory;
        this.otherwise = otherwise;
    }

    /**
     * The destinations of a configuration, in its order.
     *
     * @return kept and new ones.
     * @throws ExitException if a file or a spool cannot be written, or credentials cannot be read, or if a file in use would be
     *     overwritten.
     */
    public List<Destination> of(final ExporterConfig config) {
        final Map<Identity, Destination> next = new HashMap<>();
        final List<Destination> destinations = new ArrayList<>();
        for (final ExporterConfig.Destination spec : config.exporting().destinations()) {
            refuseFileInUse(identity(config, spec));
        }
        readCredentials(config.exporting());
        try {
            for (final ExporterConfig.Destination spec : config.exporting().destinations()) {
                final Identity identity = identity(config, spec);
                final Destination known = current.get(identity);
                final Destination destination = known != null ? known : make(config, spec);
                next.put(identity, destination);
                destinations.add(destination);
            }
        } catch (final RuntimeException ex) {
            destinations.removeAll(current.values());
            destinations.forEach((destination) -> destination.close(0, 0));
            throw ex;
        }
        current = next;
        if (destinations.isEmpty() && otherwise != null) {
            standardOutput = standardOutput != null ? standardOutput : otherwise.get();
            destinations.add(standardOutput);
        }
        return destinations;
    }

    /** {@return notices of new destinations, each once} */
    public List<String> notices() {
        final List<String> told = List.copyOf(notices);
        notices.clear();
        return told;
    }

    private static Identity identity(final ExporterConfig config, final ExporterConfig.Destination spec) {
        final boolean isTls = spec.address().transport() == ExporterConfig.Transport.TLS;
        return new Identity(spec, isTls ? config.exporting().tls() : null,
            config.exporting().enterpriseNumber(), config.observationDomainId());
    }

    /**
     * A reopened file would be truncated, so a file in use is refused. This is checked before it is opened, under any name,
     * because closing a file releases all locks that its process has on it.
     */
    private void refuseFileInUse(final Identity next) {
        if (next.spec().address().transport() != ExporterConfig.Transport.FILE || current.containsKey(next)) {
            return;
        }
        for (final Identity known : current.keySet()) {
            if (known.spec().address().transport() == ExporterConfig.Transport.FILE &&
                isSame(known.spec().address().file(), next.spec().address().file())) {
                throw new ExitException(ExitCode.CONFIGURATION,
                    next.spec().address().uri() +
                    ": the file is in use with other settings; they need a restart, which empties it");
            }
        }
    }

    private static boolean isSame(final Path one, final Path other) {
        try {
            return Files.isSameFile(one, other);
        } catch (final IOException ex) {
            return one.toAbsolutePath().normalize().equals(other.toAbsolutePath().normalize()); // the file is absent
        }
    }

    /** A renewed certificate keeps its file name: unchanged destinations use it at their next connection. */
    private void readCredentials(final ExporterConfig.Exporting exporting) {
        for (final ExporterConfig.Destination spec : exporting.destinations()) {
            if (spec.address().transport() == ExporterConfig.Transport.TLS) {
                try {
                    factory.readCredentials(exporting.tls());
                } catch (final IOException ex) {
                    throw new ExitException(ExitCode.CONFIGURATION, spec.address().uri() + ": " + ex.getMessage());
                }
                return;
            }
        }
    }

    private Destination make(final ExporterConfig config, final ExporterConfig.Destination spec) {
        try {
            final Destination destination = factory.make(config, spec);
            notices.addAll(destination.notices());
            return destination;
        } catch (final IOException ex) {
            throw new ExitException(
                spec.address().transport() == ExporterConfig.Transport.FILE ? ExitCode.CANNOT_WRITE : ExitCode.CONFIGURATION,
                spec.address().uri() + ": " + ex.getMessage());
        }
    }
}

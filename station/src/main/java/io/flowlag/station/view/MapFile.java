package io.flowlag.station.view;

import io.flowlag.common.config.Problems;
import io.flowlag.network.topology.NetworkFiles;
import io.flowlag.network.topology.NetworkMap;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * The network's file, read again when it has changed and has stayed so from one look to the next. A file with faults is not
 * taken; the job says which it has. One thread.
 */
public final class MapFile implements Supplier<Optional<NetworkMap>> {
    private final String format;
    private final String file;
    private Stamp last;
    private Stamp taken;

    private record Stamp(FileTime modified, long bytes) {
        static Stamp of(final Path file) {
            try {
                return new Stamp(Files.getLastModifiedTime(file), Files.size(file));
            } catch (final IOException ex) {
                return null;
            }
        }
    }

    /**
     * Of a file that was read before.
     *
     * @param format as {@link NetworkFiles#parse} has it.
     * @param file   that need not be there; empty for none.
     */
    public MapFile(final String format, final String file) {
        this.format = format;
        this.file = file;
        taken = file.isEmpty() ? null : Stamp.of(Path.of(file));
        last = taken;
    }

    /** {@return the network, if the file has changed} */
    @Override
    public Optional<NetworkMap> get() {
        final Stamp now = file.isEmpty() ? null : Stamp.of(Path.of(file));
        final boolean isSettled = now != null && now.equals(last) && !now.equals(taken);
        last = now;
        if (!isSettled) {
            return Optional.empty();
        }
        taken = now;
        final Problems problems = new Problems();
        final NetworkFiles.Source source = NetworkFiles.source(file, problems);
        return source == null ? Optional.empty() :
            Optional.ofNullable(NetworkFiles.parse(format, file, source.text(), problems));
    }
}

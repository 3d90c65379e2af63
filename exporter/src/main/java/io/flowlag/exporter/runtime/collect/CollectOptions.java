package io.flowlag.exporter.runtime.collect;

import io.flowlag.exporter.listing.Listing;
import io.flowlag.ipfix.collect.ListenAddress;
import io.flowlag.ipfix.collect.SessionKind;

import java.util.List;
import javax.net.ssl.SSLContext;

/**
 * Options of {@code collect}. Immutable.
 *
 * @param listen      addresses to receive on; empty when files are read.
 * @param files       IPFIX files to read, in order, plain or gzip; {@code -} is standard input.
 * @param recordLimit number of records after which it ends; 0 for no limit.
 * @param idleNs      silence after which it ends, once a message has come; 0 for never.
 * @param isQuiet     whether to omit the closing statistics.
 * @param listing     what is shown, and as what.
 * @param isVerbose   whether to write options records, and where each record came from in JSON.
 * @param tls         own certificate and the authorities of exporters' certificates; null if no address is TLS.
 * @param columns     of CSV for received records, in order; files determine their own.
 */
public record CollectOptions(
    List<ListenAddress> listen,
    List<String> files,
    Listing listing,
    long recordLimit,
    long idleNs,
    boolean isQuiet,
    boolean isVerbose,
    SSLContext tls,
    List<String> columns) {
    /** UDP port 4739 on loopback, as a table, until stopped. */
    public static final CollectOptions DEFAULTS = new CollectOptions(
        List.of(ListenAddress.DEFAULT), List.of(), Listing.DEFAULT, 0, 0, false, false, null, List.of());

    /** Copies the lists and checks that the options are consistent. */
    public CollectOptions {
        listen = List.copyOf(listen);
        files = List.copyOf(files);
        columns = List.copyOf(columns);
        if (listen.isEmpty() == files.isEmpty()) {
            throw new IllegalArgumentException("either addresses to receive on or files to read, not both and not none");
        }
        if (recordLimit < 0 || idleNs < 0) {
            throw new IllegalArgumentException("recordLimit=" + recordLimit + " and idleNs=" + idleNs + " must not be negative");
        }
        if (tls == null && listen.stream().anyMatch((each) -> each.kind() == SessionKind.TLS)) {
            throw new IllegalArgumentException("a tls:// address needs a certificate and its key");
        }
    }

    /** The same for other addresses, without files. */
    public CollectOptions withListen(final List<ListenAddress> addresses) {
        return new CollectOptions(addresses, List.of(), listing, recordLimit, idleNs, isQuiet, isVerbose, tls, columns);
    }

    /** The same for other files, without addresses; {@code -} is standard input. */
    public CollectOptions withFiles(final List<String> paths) {
        return new CollectOptions(List.of(), paths, listing, recordLimit, idleNs, isQuiet, isVerbose, tls, columns);
    }

    /** The same, showing something else. */
    public CollectOptions withListing(final Listing other) {
        return new CollectOptions(listen, files, other, recordLimit, idleNs, isQuiet, isVerbose, tls, columns);
    }

    /** The same with columns of CSV. */
    public CollectOptions withColumns(final List<String> names) {
        return new CollectOptions(listen, files, listing, recordLimit, idleNs, isQuiet, isVerbose, tls, names);
    }

    /** The same with other conditions to end: a number of records, and a silence. */
    public CollectOptions withEnd(final long records, final long silenceNs) {
        return new CollectOptions(listen, files, listing, records, silenceNs, isQuiet, isVerbose, tls, columns);
    }

    /** The same with other verbosity. */
    public CollectOptions withVoice(final boolean quiet, final boolean verbose) {
        return new CollectOptions(listen, files, listing, recordLimit, idleNs, quiet, verbose, tls, columns);
    }

    /** The same with credentials for TLS. */
    public CollectOptions withTls(final SSLContext context) {
        return new CollectOptions(listen, files, listing, recordLimit, idleNs, isQuiet, isVerbose, context, columns);
    }
}

package io.flowlag.exporter.runtime.run;

import io.flowlag.exporter.delay.ReferenceTransmitter;
import io.flowlag.exporter.reference.InjectionException;
import io.flowlag.exporter.reference.UdpReferenceTransmitter;
import org.agrona.DirectBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.ObjLongConsumer;

/**
 * Sends references to {@code rli.target}, from when its name is resolved on. Until then each reference that is due counts as
 * unreachable. The metering thread sends; the thread that starts and ends the process asks, and another waits for the name
 * servers.
 */
final class NamedTransmitter implements ReferenceTransmitter {
    private static final Logger LOG = LoggerFactory.getLogger(NamedTransmitter.class);
    private static final long RETRY_NS = 10_000_000_000L;

    private final String target;
    private final Executor names;
    private final Function<InetAddress, UdpReferenceTransmitter> opener;
    private final Unresolved unresolved = new Unresolved();
    private final AtomicReference<ReferenceTransmitter> current = new AtomicReference<>(unresolved);
    private CompletableFuture<Void> asked = CompletableFuture.completedFuture(null);
    private long askedNs;

    /** The address is not known. */
    private static final class Unresolved implements ReferenceTransmitter {
        private volatile long dueCount;

        @Override
        public boolean send(final int streamIndex, final DirectBuffer buffer, final int offset, final int lengthBytes) {
            dueCount++;
            return false;
        }

        @Override
        public int poll(final SendTimeHandler handler, final int limit) {
            return 0;
        }

        @Override
        public void close() {
        }
    }

    /** The thread of the executor may wait for name servers; the opener gives a transmitter to an address. */
    NamedTransmitter(final String target, final Executor names, final Function<InetAddress, UdpReferenceTransmitter> opener) {
        this.target = target;
        this.names = names;
        this.opener = opener;
    }

    /**
     * Asks for the address. Returns a future that ends when references can be sent, or with an {@link UncheckedIOException} or an
     * {@link InjectionException}.
     */
    CompletableFuture<Void> ask() {
        askedNs = System.nanoTime();
        asked = CompletableFuture.runAsync(this::resolve, names);
        return asked;
    }

    private void resolve() {
        try {
            final ReferenceTransmitter opened = opener.apply(InetAddress.getByName(target));
            if (!current.compareAndSet(unresolved, opened)) {
                opened.close();
            }
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Says that references begin only when a name server answers, and when that is, and asks again after each other answer. */
    void askUntilKnown() {
        LOG.warn("rli.target={}: no name server has answered yet; references begin when one does", target);
        tell();
    }

    private void tell() {
        asked.whenComplete((none, failure) -> {
            if (failure == null) {
                LOG.info("rli.target={}: its name is resolved, references begin", target);
            } else {
                final Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
                LOG.warn("rli.target={}: {}; the name is asked for again", target,
                    cause instanceof InjectionException ? cause.getMessage() : "no such host");
            }
        });
    }

    /** Asks again some time after an answer that did not help. */
    void keepHouse() {
        if (asked.isCompletedExceptionally() && System.nanoTime() - askedNs >= RETRY_NS) {
            ask();
            tell();
        }
    }

    /** {@return references that the kernel took} */
    long sentCount() {
        return current.get() instanceof UdpReferenceTransmitter udp ? udp.sentCount() : 0;
    }

    @Override
    public boolean send(final int streamIndex, final DirectBuffer buffer, final int offset, final int lengthBytes) {
        return current.get().send(streamIndex, buffer, offset, lengthBytes);
    }

    @Override
    public int poll(final SendTimeHandler handler, final int limit) {
        return current.get().poll(handler, limit);
    }

    @Override
    public InetAddress target() {
        return current.get().target();
    }

    @Override
    public int headerLengthBytes() {
        return current.get().headerLengthBytes();
    }

    @Override
    public void counters(final ObjLongConsumer<String> consumer) {
        consumer.accept("transmit_unreachable", unresolved.dueCount);
        current.get().counters((label, count) ->
            consumer.accept(label, "transmit_unreachable".equals(label) ? count + unresolved.dueCount : count));
    }

    /** A name that is resolved later opens nothing. */
    @Override
    public void close() {
        current.getAndSet(new Unresolved()).close();
    }
}

package io.flowlag.exporter.reference;

import com.sun.jna.Platform;
import org.agrona.CloseHelper;

import java.util.ArrayList;
import java.util.List;

/**
 * The UDP port of references, bound on the receiver's host so that the host does not answer with "port unreachable". A kernel
 * filter discards every datagram, because the observation point has seen it before. The kernel counts these as receive errors
 * of UDP ({@code UdpInErrors}). Allocates at construction; needs no thread.
 */
public final class ReferencePort implements AutoCloseable {
    private final List<UdpSocket> sockets;

    private ReferencePort(final List<UdpSocket> sockets) {
        this.sockets = sockets;
    }

    /**
     * Binds the port for all addresses of the host, of both IP versions where the host has both.
     *
     * @throws InjectionException if another process holds it for either, or it can be bound for neither.
     */
    public static ReferencePort bind(final int port) {
        if (!Platform.isLinux()) {
            throw new InjectionException("references are received on Linux only", false);
        }
        final List<UdpSocket> sockets = new ArrayList<>();
        InjectionException failure = null;
        for (final int family : new int[]{UdpLayout.AF_INET, UdpLayout.AF_INET6}) {
            try {
                sockets.add(bind(family, port));
            } catch (final InjectionException ex) {
                failure = failure == null || ex.isAddressInUse() ? ex : failure;
            }
        }
        if (failure != null && (failure.isAddressInUse() || sockets.isEmpty())) {
            CloseHelper.closeAll(sockets);
            throw failure;
        }
        return new ReferencePort(sockets);
    }

    private static UdpSocket bind(final int family, final int port) {
        final UdpSocket socket = UdpSocket.open("reference port", family);
        try {
            socket.bind(UdpSocket.anyAddress(family), port);
            return socket;
        } catch (final InjectionException ex) {
            socket.close();
            throw ex;
        }
    }

    /** {@return the number of IP versions for which the port is bound} */
    public int ipVersionCount() {
        return sockets.size();
    }

    @Override
    public void close() {
        CloseHelper.closeAll(sockets);
    }
}

package io.flowlag.exporter.capture.posix;

import com.sun.jna.Memory;
import com.sun.jna.Native;
import com.sun.jna.Platform;
import com.sun.jna.Pointer;

import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;

/**
 * The interfaces visible to the calling thread. Uses the C library and not {@link java.net.NetworkInterface}, which omits
 * interfaces without an address; capture interfaces often have none. Stateless; safe from any thread; allocates.
 */
public final class NetworkInterfaces {
    private static final int NAME_OFFSET = Native.POINTER_SIZE;
    private static final int ENTRY_LENGTH_BYTES = NAME_OFFSET + Native.POINTER_SIZE;

    private static final int AF_INET = 2;
    private static final int SOCK_DGRAM = 2;
    private static final int SOCK_CLOEXEC = 0x80000;
    private static final long SIOCGIFNAME = 0x8910;
    private static final long SIOCGIFMTU = 0x8921;
    /** Of Linux's {@code struct ifreq}: a name of 16 octets, then a union: interface 4, or MTU 4. */
    private static final int REQUEST_LENGTH_BYTES = 40;
    private static final int REQUEST_VALUE_OFFSET = 16;

    private NetworkInterfaces() {
    }

    /** The kernel's index of an interface. Returns its index, or 0 if there is none or the system does not number interfaces. */
    public static int indexOf(final String name) {
        return Platform.isWindows() ? 0 : CLibrary.if_nametoindex(name);
    }

    /** {@return the names of all interfaces in the kernel's order; empty where the system does not list them} */
    public static List<String> names() {
        final List<String> names = new ArrayList<>();
        final Pointer list = Platform.isWindows() ? null : CLibrary.if_nameindex();
        if (list != null) {
            for (long entry = 0; list.getInt(entry) != 0; entry += ENTRY_LENGTH_BYTES) {
                names.add(list.getPointer(entry + NAME_OFFSET).getString(0));
            }
            CLibrary.if_freenameindex(list);
        }
        return names;
    }

    /**
     * The longest IP packet that the link of an interface carries, whether the interface has an address or not. Returns octets,
     * as it is now; 0 if there is no such interface or the system does not report it.
     */
    public static int mtuBytes(final int interfaceIndex) {
        if (!Platform.isLinux()) {
            return javaMtuBytes(interfaceIndex);
        }
        final int fd = CLibrary.socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (fd < 0) {
            return 0;
        }
        try (Memory request = new Memory(REQUEST_LENGTH_BYTES)) {
            request.clear();
            request.setInt(REQUEST_VALUE_OFFSET, interfaceIndex);
            final long address = Pointer.nativeValue(request);
            return CLibrary.ioctl(fd, SIOCGIFNAME, address) == 0 && CLibrary.ioctl(fd, SIOCGIFMTU, address) == 0 ?
                request.getInt(REQUEST_VALUE_OFFSET) : 0;
        } finally {
            CLibrary.close(fd);
        }
    }

    private static int javaMtuBytes(final int interfaceIndex) {
        try {
            final NetworkInterface networkInterface = NetworkInterface.getByIndex(interfaceIndex);
            return networkInterface == null ? 0 : networkInterface.getMTU();
        } catch (final SocketException ex) {
            return 0;
        }
    }
}

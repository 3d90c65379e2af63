package io.flowlag.exporter.capture.posix;

import com.sun.jna.Native;
import com.sun.jna.Platform;
import com.sun.jna.Pointer;

import java.util.ArrayList;
import java.util.List;

/**
 * The interfaces that the calling thread can see. Asks the C library and not {@link java.net.NetworkInterface}, which leaves out
 * interfaces without an address: those that one captures on often have none. Stateless; safe from any thread; allocates.
 */
public final class NetworkInterfaces {
    private static final int NAME_OFFSET = Native.POINTER_SIZE;
    private static final int ENTRY_LENGTH_BYTES = NAME_OFFSET + Native.POINTER_SIZE;

    private NetworkInterfaces() {
    }

    /**
     * The kernel's index of an interface.
     *
     * @param name of the interface.
     * @return its index, or 0 if there is none or the system does not number interfaces.
     */
    public static int indexOf(final String name) {
        return Platform.isWindows() ? 0 : CLibrary.if_nametoindex(name);
    }

    /** {@return the names of all interfaces in the kernel's order; empty where the system does not tell} */
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
}

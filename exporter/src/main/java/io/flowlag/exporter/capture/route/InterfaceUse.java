package io.flowlag.exporter.capture.route;

import io.flowlag.common.memory.CheckedBuffer;
import io.flowlag.exporter.capture.CaptureException;

import java.nio.ByteOrder;
import java.util.TreeSet;

/**
 * Whether the host uses an interface: it has an address, a route leads over it, it belongs to a bridge or bond, or another
 * interface, such as a VLAN's, is on it. Link-local IPv6 addresses and the kernel's own routes do not count: every interface has
 * them. Reads rtnetlink(7) once; one thread; allocates.
 * <pre>
 *   ifinfomsg  family 1, (padding 1), type 2, interface 4, flags 4, change 4
 *   ifaddrmsg  family 1, prefix bits 1, flags 1, scope 1, interface 4
 * </pre>
 * Headers, routes and attributes are as in {@link RouteReader}.
 */
public final class InterfaceUse {
    private static final int GET_LINK = 18;
    private static final int GET_ADDRESS = 22;
    private static final int NEW_LINK = 16;
    private static final int NEW_ADDRESS = 20;
    private static final int NEW_ROUTE = 24;
    private static final int ERROR = 2;
    private static final int DONE = 3;
    private static final int LINK_LENGTH_BYTES = 16;
    private static final int ADDRESS_LENGTH_BYTES = 8;
    private static final int INDEX_OFFSET = 4;
    private static final int SCOPE_OFFSET = 3;
    private static final int ROUTE_PROTOCOL_OFFSET = 5;
    private static final int AF_INET6 = 10;
    private static final int SCOPE_LINK = 253;
    private static final int PROTOCOL_KERNEL = 2;
    private static final int LINK_LOWER = 5;
    private static final int LINK_MASTER = 10;
    private static final int LINK_LOWER_NAMESPACE = 37;
    private static final int ROUTE_INTERFACE = 4;
    private static final int ROUTE_MULTIPATH = 9;
    private static final int ATTRIBUTE_HEADER_LENGTH_BYTES = 4;
    private static final int HOP_LENGTH_BYTES = 8;
    private static final int TYPE_MASK = 0x3FFF;
    private static final String UNREADABLE = "addresses or routes that cannot be read";
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();

    private final int interfaceIndex;
    private final TreeSet<String> uses = new TreeSet<>();
    private final TreeSet<Integer> uppers = new TreeSet<>();
    private CheckedBuffer buffer;
    private int peer;

    private InterfaceUse(final int interfaceIndex) {
        this.interfaceIndex = interfaceIndex;
    }

    /**
     * What an interface of the thread's network namespace has that the host uses it by.
     *
     * @param interfaceIndex of the kernel; 0 for none.
     * @return the reasons; empty if there are none.
     */
    public static String of(final int interfaceIndex) {
        final InterfaceUse use = new InterfaceUse(interfaceIndex);
        if (interfaceIndex == 0) {
            return "";
        }
        try (RouteSocket socket = new RouteSocket()) {
            use.buffer = socket.buffer();
            for (final int type : new int[] {GET_LINK, GET_ADDRESS, RouteSocket.GET_ROUTE}) {
                use.dump(socket, type);
            }
        } catch (final CaptureException ex) {
            return UNREADABLE;
        }
        // The other end of a virtual wire is no interface above this one.
        use.uppers.remove(use.peer);
        if (!use.uppers.isEmpty()) {
            use.uses.add("an interface above it");
        }
        return String.join(", ", use.uses);
    }

    private void dump(final RouteSocket socket, final int type) {
        boolean isOver = !socket.requestDump(type);
        if (isOver) {
            uses.add(UNREADABLE);
        }
        while (!isOver) {
            final int lengthBytes = socket.receive();
            if (lengthBytes <= 0) {
                uses.add(UNREADABLE);
                return;
            }
            isOver = read(lengthBytes);
        }
    }

    /** Reads the messages of a datagram. Returns whether the dump is over. */
    private boolean read(final int datagramBytes) {
        boolean isOver = false;
        int offset = 0;
        while (datagramBytes - offset >= RouteReader.HEADER_LENGTH_BYTES) {
            final int lengthBytes = buffer.getInt(offset, ORDER);
            if (lengthBytes < RouteReader.HEADER_LENGTH_BYTES || lengthBytes > datagramBytes - offset) {
                return true;
            }
            final int type = buffer.getShort(offset + RouteReader.TYPE_OFFSET, ORDER) & 0xffff;
            final int body = offset + RouteReader.HEADER_LENGTH_BYTES;
            final int end = offset + lengthBytes;
            if (type == NEW_LINK && end - body >= LINK_LENGTH_BYTES) {
                readLink(body, end);
            } else if (type == NEW_ADDRESS && end - body >= ADDRESS_LENGTH_BYTES) {
                readAddress(body);
            } else if (type == NEW_ROUTE && end - body >= RouteReader.BODY_LENGTH_BYTES) {
                readRoute(body, end);
            }
            isOver |= type == DONE || type == ERROR;
            offset = end + 3 & -4;
        }
        return isOver;
    }

    private void readLink(final int body, final int end) {
        final int index = buffer.getInt(body + INDEX_OFFSET, ORDER);
        final int attributes = body + LINK_LENGTH_BYTES;
        final boolean isHere = find(LINK_LOWER_NAMESPACE, attributes, end, 0) == 0;
        final int lower = isHere ? number(find(LINK_LOWER, attributes, end, Integer.BYTES)) : 0;
        if (index == interfaceIndex) {
            peer = lower;
            if (number(find(LINK_MASTER, attributes, end, Integer.BYTES)) != 0) {
                uses.add("a bridge or bond");
            }
        } else if (lower == interfaceIndex) {
            uppers.add(index);
        }
    }

    private void readAddress(final int body) {
        final boolean isOfLink = buffer.getByte(body) == AF_INET6 &&
            (buffer.getByte(body + SCOPE_OFFSET) & 0xff) == SCOPE_LINK;
        if (buffer.getInt(body + INDEX_OFFSET, ORDER) == interfaceIndex && !isOfLink) {
            uses.add("an address");
        }
    }

    private void readRoute(final int body, final int end) {
        final int attributes = body + RouteReader.BODY_LENGTH_BYTES;
        boolean isOver = number(find(ROUTE_INTERFACE, attributes, end, Integer.BYTES)) == interfaceIndex;
        final int hops = find(ROUTE_MULTIPATH, attributes, end, 0);
        if (hops != 0) {
            final int hopsEnd = hops - ATTRIBUTE_HEADER_LENGTH_BYTES + lengthBytes(hops - ATTRIBUTE_HEADER_LENGTH_BYTES);
            for (int hop = hops; hopsEnd - hop >= HOP_LENGTH_BYTES && lengthBytes(hop) >= HOP_LENGTH_BYTES;) {
                isOver |= buffer.getInt(hop + INDEX_OFFSET, ORDER) == interfaceIndex;
                hop += lengthBytes(hop) + 3 & -4;
            }
        }
        if (isOver && buffer.getByte(body + ROUTE_PROTOCOL_OFFSET) != PROTOCOL_KERNEL) {
            uses.add("a route");
        }
    }

    /** Looks for an attribute with at least so many octets of data. Returns their offset, or 0. */
    private int find(final int type, final int begin, final int end, final int leastBytes) {
        int offset = begin;
        while (end - offset >= ATTRIBUTE_HEADER_LENGTH_BYTES && lengthBytes(offset) >= ATTRIBUTE_HEADER_LENGTH_BYTES &&
            lengthBytes(offset) <= end - offset) {
            if ((buffer.getShort(offset + 2, ORDER) & TYPE_MASK) == type) {
                return lengthBytes(offset) - ATTRIBUTE_HEADER_LENGTH_BYTES >= leastBytes ?
                    offset + ATTRIBUTE_HEADER_LENGTH_BYTES : 0;
            }
            offset += lengthBytes(offset) + 3 & -4;
        }
        return 0;
    }

    private int lengthBytes(final int offset) {
        return buffer.getShort(offset, ORDER) & 0xffff;
    }

    /** {@return the number at an offset; 0 if the offset is} */
    private int number(final int offset) {
        return offset == 0 ? 0 : buffer.getInt(offset, ORDER);
    }
}

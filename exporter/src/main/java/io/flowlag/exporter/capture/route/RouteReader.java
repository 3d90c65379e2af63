package io.flowlag.exporter.capture.route;

import io.flowlag.common.config.Prefix;
import io.flowlag.exporter.capture.route.RouteHandler.Change;
import org.agrona.DirectBuffer;

import java.nio.ByteOrder;
import java.util.List;
import java.util.TreeSet;

/**
 * Reads rtnetlink(7) messages about routes and rules. Every length is checked against the end of what holds it; if one does not
 * fit, the rest of the datagram is passed over, and a dump counts as failed. Numbers are in the byte order of the machine,
 * addresses in network order. One thread; allocates.
 * <pre>
 *   nlmsghdr      length 4 (with this header), type 2, flags 2, sequence 4, port 4; the next begins at a multiple of 4
 *   rtmsg         family 1, destination bits 1, source bits 1, TOS 1, table 1, protocol 1, scope 1, type 1, flags 4
 *   fib_rule_hdr  family 1, destination bits 1, source bits 1, TOS 1, table 1, reserved 2, action 1, flags 4
 *   rtattr        length 2 (with this header), type 2, data; the next begins at a multiple of 4
 *   rtnexthop     length 2 (with this header), flags 1, weight 1, interface 4, attributes
 * </pre>
 */
final class RouteReader {
    static final int HEADER_LENGTH_BYTES = 16;
    static final int TYPE_OFFSET = 4;
    static final int FLAGS_OFFSET = TYPE_OFFSET + 2;
    static final int BODY_LENGTH_BYTES = 12;
    private static final int SOURCE_BITS_OFFSET = 2;
    private static final int TOS_OFFSET = SOURCE_BITS_OFFSET + 1;
    private static final int TABLE_OFFSET = TOS_OFFSET + 1;
    /** The action in a rule. */
    private static final int KIND_OFFSET = TABLE_OFFSET + 3;
    private static final int BODY_FLAGS_OFFSET = KIND_OFFSET + 1;
    private static final int ATTRIBUTE_HEADER_LENGTH_BYTES = 4;
    private static final int HOP_HEADER_LENGTH_BYTES = 8;
    private static final int HOP_INTERFACE_OFFSET = 4;

    private static final int NLMSG_NOOP = 1;
    private static final int NLMSG_ERROR = 2;
    private static final int NLMSG_DONE = 3;
    private static final int RTM_NEWROUTE = 24;
    private static final int RTM_DELROUTE = 25;
    private static final int RTM_NEWRULE = 32;
    private static final int FLAG_MULTI = 0x2;
    private static final int FLAG_DUMP_INTERRUPTED = 0x10;
    private static final int FLAG_REPLACE = 0x100;

    private static final int AF_INET = 2;
    private static final int AF_INET6 = 10;
    private static final int IPV4_BITS = 32;
    private static final int IPV6_BITS = 128;

    private static final int TYPE_UNICAST = 1;
    private static final int TYPE_LOCAL = 2;
    private static final int TYPE_BROADCAST = 3;
    private static final int TYPE_ANYCAST = 4;
    private static final int TYPE_BLACKHOLE = 6;
    private static final int TYPE_PROHIBIT = 8;
    private static final int TYPE_THROW = 9;
    private static final int HOP_DEAD = 0x1;
    private static final int ROUTE_CLONED = 0x200;
    private static final int ATTRIBUTE_TYPE_MASK = 0x3FFF;
    private static final int RTA_DESTINATION = 1;
    private static final int RTA_INTERFACE = 4;
    private static final int RTA_METRIC = 6;
    private static final int RTA_MULTIPATH = 9;
    private static final int RTA_TABLE = 15;
    private static final int RTA_ENCAPSULATION = 22;

    private static final int ACTION_TO_TABLE = 1;
    private static final int RULE_INVERTED = 0x2;
    private static final int FRA_PRIORITY = 6;
    private static final int FRA_TABLE = 15;
    private static final int FRA_SUPPRESS_PREFIX_LENGTH = 14;
    private static final int FRA_PROTOCOL = 21;
    private static final int PRIORITY_MAIN = 32_766;
    private static final int PRIORITY_DEFAULT = PRIORITY_MAIN + 1;
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();
    private static final ByteOrder NETWORK_ORDER = ByteOrder.BIG_ENDIAN;

    private final RouteHandler handler;
    private final TreeSet<Integer> interfaces = new TreeSet<>();
    private DirectBuffer buffer;
    private Prefix prefix;
    private int table;
    private long metric;
    private int priority;
    private int hopCount;
    /** Whether attributes leave the destination as the only choice. */
    private boolean isPlain;

    /** What is wrong with a message; has no trace. */
    private static final class DamagedException extends Exception {
        private static final long serialVersionUID = 1L;

        private DamagedException() {
            super(null, null, false, false);
        }
    }

    RouteReader(final RouteHandler handler) {
        this.handler = handler;
    }

    /** Reads the messages of one datagram, which begins at 0. */
    void read(final DirectBuffer datagram, final int lengthBytes) {
        buffer = datagram;
        try {
            int offset = 0;
            while (lengthBytes - offset >= HEADER_LENGTH_BYTES) {
                final int end = end(offset, buffer.getInt(offset, ORDER), HEADER_LENGTH_BYTES, lengthBytes);
                readMessage(offset, end);
                offset = align(end);
            }
        } catch (final DamagedException ex) {
            handler.onDumpEnd(false);
        }
    }

    /** Checks the length of what begins at an offset; returns its end. */
    private static int end(final int offset, final int lengthBytes, final int leastBytes, final int limit)
        throws DamagedException {
        if (lengthBytes < leastBytes || lengthBytes > limit - offset) {
            throw new DamagedException();
        }
        return offset + lengthBytes;
    }

    private static int align(final int offset) {
        return offset + 3 & -4;
    }

    private int unsignedByte(final int offset) {
        return buffer.getByte(offset) & 0xff;
    }

    private int unsignedShort(final int offset) {
        return buffer.getShort(offset, ORDER) & 0xffff;
    }

    private int number(final int offset, final int limit) throws DamagedException {
        end(offset, Integer.BYTES, 0, limit);
        return buffer.getInt(offset, ORDER);
    }

    private void readMessage(final int offset, final int end) throws DamagedException {
        final int flags = unsignedShort(offset + FLAGS_OFFSET);
        final int body = offset + HEADER_LENGTH_BYTES;
        if ((flags & FLAG_DUMP_INTERRUPTED) != 0) {
            handler.onDoubt();
        }
        final int type = unsignedShort(offset + TYPE_OFFSET);
        if (type == NLMSG_DONE || type == NLMSG_ERROR) {
            handler.onDumpEnd(type == NLMSG_DONE && number(body, end) == 0);
        } else if (type == RTM_NEWROUTE || type == RTM_DELROUTE) {
            readRoute(body, end, type == RTM_DELROUTE ? Change.DELETED : (flags & FLAG_MULTI) != 0 ? Change.DUMPED :
                (flags & FLAG_REPLACE) != 0 ? Change.REPLACED : Change.ADDED);
        } else if (type == RTM_NEWRULE && (flags & FLAG_MULTI) != 0) {
            readRule(body, end);
        } else if (type != NLMSG_NOOP) {
            handler.onDoubt();
        }
    }

    private void readRoute(final int body, final int end, final Change change) throws DamagedException {
        end(body, BODY_LENGTH_BYTES, 0, end);
        final int family = unsignedByte(body);
        final int flags = buffer.getInt(body + BODY_FLAGS_OFFSET, ORDER);
        if (family != AF_INET && family != AF_INET6 || (flags & ROUTE_CLONED) != 0) {
            return;
        }
        final boolean isIpv6 = family == AF_INET6;
        final int type = unsignedByte(body + KIND_OFFSET);
        prefix = prefixOf(isIpv6, unsignedByte(body + 1), -1);
        table = unsignedByte(body + TABLE_OFFSET);
        metric = 0;
        isPlain = true;
        hopCount = 0;
        interfaces.clear();
        readAttributes(body + BODY_LENGTH_BYTES, end,
            (attribute, data, attributeEnd) -> onRouteAttribute(attribute, data, attributeEnd, flags));
        if (table != Route.MAIN && table != Route.LOCAL && (table != Route.DEFAULT || isIpv6)) {
            return;
        }
        if (buffer.getShort(body + SOURCE_BITS_OFFSET, ORDER) != 0) {
            metric = Route.FIRST;
        }
        final boolean isForwarding = type == TYPE_UNICAST && isPlain && hopCount > 0;
        final boolean isStop = type >= TYPE_LOCAL && type <= TYPE_ANYCAST || type >= TYPE_BLACKHOLE && type <= TYPE_PROHIBIT ||
            type == TYPE_THROW && table == Route.MAIN;
        handler.onRoute(new Route(prefix, table, metric, isForwarding ? List.copyOf(interfaces) : List.of(),
            (isForwarding || isStop) && metric != Route.FIRST && table != Route.DEFAULT,
            type < TYPE_BLACKHOLE && hopCount > 0 && interfaces.isEmpty()), change);
    }

    /** Takes an attribute; its data begin and end at the given positions. */
    private interface AttributeHandler {
        void onAttribute(int type, int data, int end) throws DamagedException;
    }

    private void readAttributes(final int begin, final int end, final AttributeHandler attributes) throws DamagedException {
        for (int offset = begin; end - offset >= ATTRIBUTE_HEADER_LENGTH_BYTES;) {
            final int attributeEnd = end(offset, unsignedShort(offset), ATTRIBUTE_HEADER_LENGTH_BYTES, end);
            attributes.onAttribute(unsignedShort(offset + 2) & ATTRIBUTE_TYPE_MASK, offset + ATTRIBUTE_HEADER_LENGTH_BYTES,
                attributeEnd);
            offset = align(attributeEnd);
        }
    }

    private void onRouteAttribute(final int type, final int data, final int end, final int flags) throws DamagedException {
        switch (type) {
            case RTA_DESTINATION:
                end(data, prefix.isIpv6() ? 2 * Long.BYTES : Integer.BYTES, 0, end);
                prefix = prefixOf(prefix.isIpv6(), prefix.lengthBits(), data);
                break;
            case RTA_INTERFACE:
                addHop(number(data, end), flags);
                break;
            case RTA_METRIC:
                metric = number(data, end) & 0xffff_ffffL;
                break;
            case RTA_MULTIPATH:
                readHops(data, end);
                break;
            case RTA_TABLE:
                table = number(data, end);
                break;
            default:
                isPlain &= type != RTA_ENCAPSULATION;
                break;
        }
    }

    private void readHops(final int begin, final int end) throws DamagedException {
        for (int offset = begin; end - offset >= HOP_HEADER_LENGTH_BYTES;) {
            final int hopEnd = end(offset, unsignedShort(offset), HOP_HEADER_LENGTH_BYTES, end);
            addHop(buffer.getInt(offset + HOP_INTERFACE_OFFSET, ORDER), unsignedByte(offset + 2));
            readAttributes(offset + HOP_HEADER_LENGTH_BYTES, hopEnd,
                (type, data, attributeEnd) -> isPlain &= type != RTA_ENCAPSULATION);
            offset = align(hopEnd);
        }
    }

    private void addHop(final int interfaceIndex, final int flags) {
        isPlain &= interfaceIndex > 0;
        hopCount++;
        if ((flags & HOP_DEAD) == 0) {
            interfaces.add(interfaceIndex);
        }
    }

    /** The prefix whose address is at an offset, or whose address is 0 if the offset is negative. */
    private Prefix prefixOf(final boolean isIpv6, final int lengthBits, final int offset) throws DamagedException {
        if (lengthBits > (isIpv6 ? IPV6_BITS : IPV4_BITS)) {
            throw new DamagedException();
        }
        if (offset < 0) {
            return new Prefix(isIpv6, 0, 0, lengthBits);
        }
        if (!isIpv6) {
            return new Prefix(false, 0, buffer.getInt(offset, NETWORK_ORDER) & highBits(IPV4_BITS + lengthBits) & 0xffff_ffffL,
                lengthBits);
        }
        return new Prefix(true, buffer.getLong(offset, NETWORK_ORDER) & highBits(Math.min(lengthBits, Long.SIZE)),
            buffer.getLong(offset + Long.BYTES, NETWORK_ORDER) & highBits(Math.max(0, lengthBits - Long.SIZE)), lengthBits);
    }

    /** {@return a mask of the first 0 to 64 bits} */
    private static long highBits(final int count) {
        return count == 0 ? 0 : -1L << Long.SIZE - count;
    }

    /** A default rule has no selector, and the priority of its table. */
    private void readRule(final int body, final int end) throws DamagedException {
        end(body, BODY_LENGTH_BYTES, 0, end);
        final int family = unsignedByte(body);
        if (family != AF_INET && family != AF_INET6) {
            return;
        }
        table = unsignedByte(body + TABLE_OFFSET);
        priority = 0;
        isPlain = unsignedByte(body + 1) == 0 && buffer.getShort(body + SOURCE_BITS_OFFSET, ORDER) == 0 &&
            unsignedByte(body + KIND_OFFSET) == ACTION_TO_TABLE &&
            (buffer.getInt(body + BODY_FLAGS_OFFSET, ORDER) & RULE_INVERTED) == 0;
        readAttributes(body + BODY_LENGTH_BYTES, end, this::onRuleAttribute);
        final boolean isDefault = isPlain && (table == Route.LOCAL && priority == 0 ||
            table == Route.MAIN && priority == PRIORITY_MAIN ||
            table == Route.DEFAULT && priority == PRIORITY_DEFAULT && family == AF_INET);
        handler.onRule(family == AF_INET6, isDefault ? table : 0);
    }

    private void onRuleAttribute(final int type, final int data, final int end) throws DamagedException {
        switch (type) {
            case FRA_PRIORITY:
                priority = number(data, end);
                break;
            case FRA_TABLE:
                table = number(data, end);
                break;
            case FRA_SUPPRESS_PREFIX_LENGTH:
                isPlain &= number(data, end) == -1;
                break;
            default:
                isPlain &= type == FRA_PROTOCOL;
                break;
        }
    }
}

package io.flowlag.ipfix.collect;

import org.junit.jupiter.api.Test;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

import static io.flowlag.ipfix.collect.Octets.message;
import static io.flowlag.ipfix.collect.Octets.octets;
import static io.flowlag.ipfix.collect.Octets.set;
import static io.flowlag.ipfix.collect.Octets.template;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Files: whole, truncated anywhere, and corrupt. */
class MessageStreamReaderTest {
    private static final byte[] FIRST = message(1, 0, 1, set(2, template(256, 4, 1)), set(256, octets().u8(1).u8(2)));
    private static final byte[] SECOND = message(1, 2, 1, set(256, octets().u8(3)));
    private static final byte[] FILE = octets().bytes(FIRST).bytes(SECOND).toBytes();

    private final Collection collection = new Collection();
    private boolean isForeign;

    private String read(final InputStream in) throws IOException {
        try (MessageStreamReader reader = new MessageStreamReader(collection.process, in, "file")) {
            while (reader.readMessage(0)) {
                assertTrue(reader.positionBytes() > 0);
            }
            assertFalse(reader.readMessage(0));
            isForeign = reader.isForeign();
            return reader.damage();
        }
    }

    private String read(final byte[] octets) throws IOException {
        return read(new ByteArrayInputStream(octets));
    }

    @Test
    void shouldReadAWholeFile() throws IOException {
        assertNull(read(FILE));
        assertEquals(3, collection.records.size());
        assertEquals(0, collection.process.sessionCount());
    }

    @Test
    void shouldEndItsSessionOnceHoweverOftenItIsClosed() throws IOException {
        final TransportSession other = collection.process.openSession(SessionKind.TCP, "peer");
        final MessageStreamReader reader =
            new MessageStreamReader(collection.process, new ByteArrayInputStream(FILE), "file");
        reader.close();
        reader.close();
        assertEquals(1, collection.process.sessionCount());
        collection.process.closeSession(other);
        assertEquals(0, collection.process.sessionCount());
        assertFalse(reader.readMessage(0));
    }

    @Test
    void shouldReadEverythingBeforeACut() throws IOException {
        for (int lengthBytes = FIRST.length; lengthBytes < FILE.length; lengthBytes++) {
            collection.records.clear();
            final String damage = read(Arrays.copyOf(FILE, lengthBytes));
            assertEquals(2, collection.records.size());
            assertEquals(lengthBytes == FIRST.length, damage == null);
            assertTrue(damage == null || damage.contains("octet " + FIRST.length), damage);
            assertFalse(isForeign);
        }
    }

    @Test
    void shouldStepOverAMalformedMessage() throws IOException {
        final byte[] malformed = message(1, 0, 1, set(1, octets().u32(0)));
        final String damage = read(octets().bytes(FIRST).bytes(malformed).bytes(SECOND).toBytes());
        assertEquals(3, collection.records.size());
        assertTrue(damage.contains("malformed message at octet " + FIRST.length + " (refused_set_id)"), damage);
    }

    @Test
    void shouldStopWhereTheFileGoesAstray() throws IOException {
        final String damage = read(octets().bytes(FIRST).text("not a message at all").bytes(SECOND).toBytes());
        assertEquals(2, collection.records.size());
        assertTrue(damage.contains("no IPFIX message at octet " + FIRST.length), damage);
        assertFalse(isForeign);
    }

    @Test
    void shouldTellAForeignFile() throws IOException {
        read(octets().text("#!/bin/sh\n").toBytes());
        assertTrue(isForeign);
    }

    @Test
    void shouldReportAnErrorOfTheStream() throws IOException {
        final InputStream in = new InputStream() {
            private int position;

            @Override
            public int read() throws IOException {
                if (position == FIRST.length + 2) {
                    throw new IOException("the disk is gone");
                }
                return FILE[position++] & 0xFF;
            }
        };
        final String damage = read(in);
        assertEquals(2, collection.records.size());
        assertTrue(damage.contains("the disk is gone"), damage);
    }

    @Test
    void shouldReadAnEmptyFile() throws IOException {
        assertNull(read(new byte[0]));
        assertFalse(isForeign);
    }
}

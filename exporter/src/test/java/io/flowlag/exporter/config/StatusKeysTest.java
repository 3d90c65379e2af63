package io.flowlag.exporter.config;

import org.junit.jupiter.api.Test;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The keys of the sections status and metrics. */
class StatusKeysTest {
    private static ExporterConfig config(final String text) {
        return new ConfigLoader().text("test", text).conclude();
    }

    private static String error(final String text) {
        final List<String> errors = assertThrows(ConfigurationException.class, () -> config(text)).errors();
        assertEquals(1, errors.size(), errors::toString);
        return errors.get(0);
    }

    @Test
    void shouldKeepAStatusFileAndListenNowhereByDefault() {
        final ExporterConfig config = config("{}");
        assertTrue(config.status().enabled());
        assertNull(config.status().file());
        assertEquals(1_000_000_000L, config.status().intervalNs());
        assertEquals(1024, config.status().flows());
        assertFalse(config.metrics().isOn());
    }

    @Test
    void shouldListenOnLoopbackWhereNoAddressIsWritten() {
        assertEquals(new HostPort("127.0.0.1", 9471), config("metrics: {listen: 9471}").metrics().listen());
        assertEquals(new HostPort("::1", 9471), config("metrics: {listen: '[::1]:9471'}").metrics().listen());
    }

    @Test
    void shouldRefuseWhatCannotBe() {
        assertTrue(error("metrics: {listen: '127.0.0.1'}").contains("metrics.listen=127.0.0.1"));
        assertTrue(error("metrics: {listen: '127.0.0.1:70000'}").contains("1 and 65535"));
        assertTrue(error("metrics: {connections: 0}").contains("metrics.connections=0"));
        assertTrue(error("metrics: {lisen: 9471}").contains("did you mean metrics.listen?"));
        assertTrue(error("status: {interval: 1}").contains("a duration needs a unit"));
        assertTrue(error("status: {flows: 1m}").contains("status.flows=1m"));
        assertTrue(error("status: {enabled: off, file: /tmp/x.status}").contains("is not written with status.enabled off"));
        assertTrue(error("status: {file: '-'}").contains("must be a file"));
        assertTrue(error("status: {file: /tmp/x}\nstats: {file: /tmp/x}").contains("the same file is used by"));
    }
}

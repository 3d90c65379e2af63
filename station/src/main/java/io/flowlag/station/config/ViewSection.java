package io.flowlag.station.config;

import io.flowlag.common.config.ConfigNode;
import io.flowlag.common.config.Origin;
import io.flowlag.common.config.Problems;
import io.flowlag.common.config.Sections;
import io.flowlag.ipfix.transport.TlsCredentials;
import io.flowlag.station.view.View;
import io.flowlag.station.view.ViewAccess;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLContext;

/** Reads the sections {@code view} and {@code alerts}. Used by one thread. */
final class ViewSection {
    private static final String NONE = "none";
    private static final String WEBHOOK = "write http://HOST/... or https://HOST/..., or none";
    private static final int MOST_PORT = 65_535;
    private static final int PORT = 8080;
    private static final String HISTORY = "flowlag-history.db";

    private final Path file;
    private final Problems problems;
    private final Sections sections;

    ViewSection(final Path file, final Problems problems) {
        this.file = file;
        this.problems = problems;
        sections = new Sections(problems);
    }

    /** {@return pages, history and where alerts go} */
    View.Settings read(final ConfigNode.Entry section, final ConfigNode.Entry alerting) {
        final Map<String, ConfigNode.Entry> view = sections.keys("view", section, "listen", "history", "tls", "token");
        final Map<String, ConfigNode.Entry> alerts = sections.keys("alerts", alerting, "webhook");
        final ViewAccess access = access(view);
        final InetSocketAddress listen = address(view.get("listen"));
        if (listen != null && access != null) {
            access.fault(listen).ifPresent((fault) -> problems.add(
                view.get("listen").origin(), "view.listen", listen.getHostString() + ":" + listen.getPort(), fault));
        }
        return new View.Settings(listen, access, file.resolveSibling(sections.text("view", view.get("history"), HISTORY)),
            webhook(alerts.get("webhook")));
    }

    /** Null if a file cannot be used. */
    private ViewAccess access(final Map<String, ConfigNode.Entry> view) {
        final Map<String, ConfigNode.Entry> tls = sections.keys("tls", view.get("tls"), "certificate", "key", "authorities");
        final Path certificate = sections.file("view.tls", tls.get("certificate"), file);
        final Path key = sections.file("view.tls", tls.get("key"), file);
        final Path authorities = sections.file("view.tls", tls.get("authorities"), file);
        final ConfigNode.Entry token = view.get("token");
        if (view.containsKey("tls") && (certificate == null || key == null)) {
            problems.add(view.get("tls").origin(), "view.tls: needs certificate and key, files in PEM");
            return null;
        }
        try {
            final Optional<SSLContext> context = certificate == null ? Optional.empty() : Optional.of(TlsCredentials.load(
                key, certificate, authorities == null ? certificate : authorities).context()); // without, no client is asked
            final Path tokenFile = sections.file("view", token, file);
            return new ViewAccess(context, authorities != null, tokenFile == null ? Optional.empty() : token(token, tokenFile));
        } catch (final IOException ex) {
            problems.add(view.get("tls").origin(), "view.tls: " + ex.getMessage());
            return null;
        }
    }

    private Optional<String> token(final ConfigNode.Entry entry, final Path tokenFile) {
        try {
            return Optional.of(ViewAccess.token(tokenFile));
        } catch (final IOException ex) {
            problems.add(entry.origin(), "view.token", tokenFile.toString(), ex.getMessage());
            return Optional.empty();
        }
    }

    private Optional<URI> webhook(final ConfigNode.Entry entry) {
        final String text = sections.text("alerts", entry, NONE);
        try {
            final URI uri = NONE.equals(text) ? null : new URI(text);
            if (uri == null || uri.getHost() != null && List.of("http", "https").contains(uri.getScheme())) {
                return Optional.ofNullable(uri);
            }
        } catch (final URISyntaxException ex) {
            problems.add(entry.origin(), "alerts.webhook", text, ex.getReason() + ": " + WEBHOOK);
            return Optional.empty();
        }
        problems.add(entry.origin(), "alerts.webhook", text, WEBHOOK);
        return Optional.empty();
    }

    private InetSocketAddress address(final ConfigNode.Entry entry) {
        final String text = sections.text("view", entry, Integer.toString(PORT));
        final int colon = text.lastIndexOf(':');
        final String host = colon < 0 ? "" : text.substring(0, colon).replaceAll("^\\[|]$", "");
        final String port = text.substring(colon + 1);
        if (!port.matches("[0-9]{1,5}") || Integer.parseInt(port) > MOST_PORT) {
            problems.add(entry == null ? Origin.DEFAULT : entry.origin(), "view.listen", text, "must be PORT or HOST:PORT");
            return null;
        }
        try {
            final InetAddress address = host.isEmpty() ? InetAddress.getLoopbackAddress() : InetAddress.getByName(host);
            return new InetSocketAddress(address, Integer.parseInt(port));
        } catch (final UnknownHostException ex) {
            problems.add(entry.origin(), "view.listen", text, "there is no such host");
            return null;
        }
    }
}

package io.flowlag.station.view;

import io.flowlag.common.http.HttpResponse;
import io.flowlag.common.http.HttpRules;
import io.flowlag.common.http.HttpServer;
import org.eclipse.jetty.http.HttpCookie;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Request;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Optional;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Lets those pass who know the token: programs by {@code Authorization: Bearer}, browsers by a cookie that they get for it at
 * {@link #LOGIN}. The cookie is no token: it is made of it, and is void with another one. Comparing takes the same time whatever
 * differs. Without a token, TLS alone decides. Immutable, any thread.
 */
final class ViewGuard {
    /** Answers with the cookie. */
    static final String LOGIN = "/login";
    /** What the page of the login needs. */
    static final Set<String> OPEN = Set.of("/login.js", "/common.css", "/view.css");

    private static final String BEARER = "Bearer ";
    private static final String COOKIE_PURPOSE = "flowlag view cookie 1";

    private final Optional<String> token;
    private final String cookieName;
    private final String cookieFlags;
    private final String cookie;
    private final HttpResponse page;

    /**
     * A guard.
     *
     * @param page of the login.
     */
    ViewGuard(final ViewAccess access, final HttpResponse page) {
        token = access.token();
        this.page = new HttpResponse(401, page.headers(), page.body());
        cookieName = access.tls().isPresent() ? "__Host-flowlag" : "flowlag";
        cookieFlags = "; Path=/; HttpOnly; SameSite=Strict" + (access.tls().isPresent() ? "; Secure" : "");
        cookie = token.map(ViewGuard::cookie).orElse("");
    }

    private static String cookie(final String token) {
        try {
            final Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(token.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
            return HexFormat.of().formatHex(mac.doFinal(COOKIE_PURPOSE.getBytes(StandardCharsets.UTF_8)));
        } catch (final GeneralSecurityException ex) {
            throw new IllegalStateException(ex);
        }
    }

    /** {@return what a request gets instead of what it asks for} */
    Optional<HttpResponse> answer(final Request request) {
        final String path = request.getHttpURI().getPath();
        if (LOGIN.equals(path)) {
            return Optional.of(login(request));
        }
        if (OPEN.contains(path) || mayLook(request)) {
            return Optional.empty();
        }
        final HttpResponse refusal = "/".equals(path) ? page : path.startsWith("/api/") ?
            ViewJson.problem(401, "give the token of view.token: Authorization: Bearer TOKEN") : HttpResponse.refusal(401);
        return Optional.of(refusal.with("WWW-Authenticate", "Bearer realm=\"flowlag\""));
    }

    private boolean mayLook(final Request request) {
        return token.isEmpty() || HttpServer.hasCertificate(request) || hasToken(request) ||
            Request.getCookies(request).stream().filter((each) -> cookieName.equals(each.getName()))
                .map(HttpCookie::getValue).anyMatch((value) -> same(value, cookie));
    }

    private boolean hasToken(final Request request) {
        final String written = HttpRules.header(request, HttpHeader.AUTHORIZATION);
        return token.isPresent() && written.regionMatches(true, 0, BEARER, 0, BEARER.length()) &&
            same(written.substring(BEARER.length()).strip(), token.get());
    }

    private HttpResponse login(final Request request) {
        return hasToken(request) ?
            HttpResponse.plain(200, "welcome").with("Set-Cookie", cookieName + "=" + cookie + cookieFlags) :
            HttpResponse.plain(401, "this is not the token").with("WWW-Authenticate", "Bearer realm=\"flowlag\"");
    }

    private static boolean same(final String one, final String other) {
        return MessageDigest.isEqual(digest(one), digest(other));
    }

    private static byte[] digest(final String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (final GeneralSecurityException ex) {
            throw new IllegalStateException(ex);
        }
    }
}

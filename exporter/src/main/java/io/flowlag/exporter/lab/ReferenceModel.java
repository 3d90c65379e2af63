package io.flowlag.exporter.lab;

import io.flowlag.rli.reference.ReferenceSession;
import io.flowlag.rli.sender.InjectionPolicy;
import io.flowlag.rli.sender.InjectionSettings;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The references that the sender of a {@link SimulatedSegment} injects: STAMP packets from one address and port to another, a
 * session for each stream. With one policy there is one stream, of the class given; with two, a stream for each class.
 * Immutable.
 *
 * @param policies          of the streams, one or two.
 * @param sharedClass       class of the only stream: 0 or 1; without effect with two.
 * @param maximumGapNs      longest time between references of a stream, more than 0.
 * @param ceilingBps        what references may take of the link on average, bits/s; {@link Long#MAX_VALUE} for no ceiling.
 * @param utilizationWeight of the newest utilization in the average: the paper's α.
 * @param port              UDP port that the references go to.
 * @param firstSsid         session identifier of stream 0; stream 1 has the next.
 * @param key               of authenticated sessions, at least 16 octets; null for unauthenticated ones.
 */
public record ReferenceModel(
    List<InjectionPolicy> policies, int sharedClass, long maximumGapNs, long ceilingBps, double utilizationWeight, int port,
    int firstSsid, byte[] key) {
    /** The port of the product's configuration. */
    public static final int DEFAULT_PORT = 8620;

    /** Checks the ranges that the scheduler does not check. */
    public ReferenceModel {
        policies = List.copyOf(policies);
        key = key == null ? null : key.clone();
        if (policies.isEmpty() || policies.size() > 2) {
            throw new IllegalArgumentException("policies=" + policies.size() + ": must be 1 or 2");
        }
        if (sharedClass < 0 || sharedClass > 1) {
            throw new IllegalArgumentException("sharedClass=" + sharedClass + ": must be 0 or 1");
        }
        if (port < 1 || port > 0xFFFF) {
            throw new IllegalArgumentException("port=" + port + ": must be 1 to 65535");
        }
    }

    /** One unauthenticated stream without a ceiling, at least every 100 ms. */
    public static ReferenceModel of(final InjectionPolicy policy) {
        return new ReferenceModel(
            List.of(policy), 1, TimeUnit.MILLISECONDS.toNanos(100), Long.MAX_VALUE,
            InjectionSettings.DEFAULT_SMOOTHING, DEFAULT_PORT, 1, null);
    }

    @Override
    public byte[] key() {
        return key == null ? null : key.clone();
    }

    public int streamCount() {
        return policies.size();
    }

    public int streamClass(final int stream) {
        return policies.size() == 1 ? sharedClass : stream;
    }

    /** The session of a stream, as its receiver must know it. Returns the session, from any address. */
    public ReferenceSession session(final int stream) {
        final int ssid = firstSsid + stream;
        return key == null ? ReferenceSession.unauthenticated(ssid) : ReferenceSession.authenticated(ssid, key.clone());
    }

    /** The stream that packets of a class are estimated by. */
    int streamOf(final int classIndex) {
        return policies.size() == 1 ? 0 : classIndex;
    }

    @Override
    public boolean equals(final Object other) {
        return other instanceof ReferenceModel that && policies.equals(that.policies) && sharedClass == that.sharedClass &&
            maximumGapNs == that.maximumGapNs && ceilingBps == that.ceilingBps &&
            utilizationWeight == that.utilizationWeight && port == that.port && firstSsid == that.firstSsid &&
            Arrays.equals(key, that.key);
    }

    @Override
    public int hashCode() {
        return 31 * policies.hashCode() + firstSsid;
    }

    @Override
    public String toString() {
        return "references " + policies + " ceilingBps=" + ceilingBps;
    }
}

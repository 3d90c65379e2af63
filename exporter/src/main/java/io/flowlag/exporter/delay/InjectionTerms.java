package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig.Injection;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Policy;
import io.flowlag.exporter.config.ExporterConfig.Rli;
import io.flowlag.rli.sender.AdaptivePolicy;
import io.flowlag.rli.sender.CombinedPolicy;
import io.flowlag.rli.sender.EveryIntervalPolicy;
import io.flowlag.rli.sender.EveryNPolicy;
import io.flowlag.rli.sender.InjectionPolicy;
import io.flowlag.rli.sender.InjectionSettings;

import java.util.Collections;
import java.util.Locale;

/**
 * When a sender sends references: by its own configuration, or by its receiver's. Created once, then read by any thread;
 * allocates at construction.
 *
 * @param settings of the schedule; null if none are sent, since packets of the traffic stand in for them.
 */
public record InjectionTerms(Policy policy, InjectionSettings settings) {
    /** Packets of the traffic stand in for references. */
    public static final InjectionTerms PASSIVE = new InjectionTerms(Policy.PASSIVE, null);
    /** Octets around a datagram's payload, as regular packets are counted: Ethernet, IPv4, UDP. */
    static final int HEADER_LENGTH_BYTES = 14 + 20 + 8;
    /** Octets of a reference that a regular packet stands in for. */
    static final int REFERENCE_LENGTH_BYTES = 64 + HEADER_LENGTH_BYTES;

    /**
     * One policy for all classes.
     *
     * @param capacityBps  of the bottleneck queue; 0 for unknown.
     * @param maximumGapNs without a reference.
     * @param own          the sender's settings: its classes, and how long its references are.
     * @throws IllegalArgumentException if they cannot be kept; the message says why.
     */
    public static InjectionTerms of(
        final Policy name, final InjectionPolicy policy, final long capacityBps, final long maximumGapNs,
        final long ceilingBps, final Rli own) {
        return new InjectionTerms(name, new InjectionSettings(
            Collections.nCopies(own.classCount(), policy), capacityBps, own.injection().smoothing(), maximumGapNs, ceilingBps,
            own.references().lengthBytes()));
    }

    /** By a process's own configuration. */
    static InjectionTerms of(final Rli rli) {
        return of(rli, rli.injection().ceilingBps());
    }

    /** By the configuration where packets of the traffic stand in for references, which use no capacity of the link. */
    static InjectionTerms ofMarked(final ExporterConfig config) {
        final boolean isGiven = !config.effectiveValue(ConfigTable.CEILING).origin().isDefault();
        return of(config.rli(), isGiven ? config.rli().injection().ceilingBps() : Long.MAX_VALUE);
    }

    private static InjectionTerms of(final Rli rli, final long ceilingBps) {
        final Injection own = rli.injection();
        final InjectionPolicy policy = switch (own.policy()) {
            case ADAPTIVE -> new AdaptivePolicy(
                own.minimumUtilization(), own.maximumUtilization(), 1.0 / own.minimumRateOneIn(), 1.0 / own.maximumRateOneIn());
            case EVERY_N -> new EveryNPolicy(own.everyN());
            case EVERY_INTERVAL -> new EveryIntervalPolicy(own.everyIntervalNs());
            case COMBINED -> new CombinedPolicy(own.everyN(), own.everyIntervalNs());
            case PASSIVE -> throw new IllegalArgumentException("policy passive sends no references");
        };
        return of(own.policy(), policy, rli.capacityBps(), own.maximumGapNs(), ceilingBps, rli);
    }

    /** {@return whether references are sent at all} */
    boolean isInjecting() {
        return settings != null;
    }

    /** {@return the policy as it is written} */
    public String name() {
        return name(policy);
    }

    static String name(final Policy policy) {
        return policy.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}

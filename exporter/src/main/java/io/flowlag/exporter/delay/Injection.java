package io.flowlag.exporter.delay;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Rli;
import io.flowlag.rli.sender.AdaptivePolicy;
import io.flowlag.rli.sender.CombinedPolicy;
import io.flowlag.rli.sender.EveryIntervalPolicy;
import io.flowlag.rli.sender.EveryNPolicy;
import io.flowlag.rli.sender.InjectionContext;
import io.flowlag.rli.sender.InjectionPolicy;

import java.util.Arrays;
import java.util.Locale;

/** The settings of the references, as the library takes them. Stateless. */
final class Injection {
    /** Octets around a datagram's payload, as regular packets are counted: Ethernet, IPv4, UDP. */
    static final int HEADER_LENGTH_BYTES = 14 + 20 + 8;
    /** Octets of a reference that a regular packet stands in for. */
    static final int REFERENCE_LENGTH_BYTES = 64 + HEADER_LENGTH_BYTES;

    private Injection() {
    }

    static InjectionContext context(final Rli rli, final int classCount) {
        final InjectionPolicy[] policies = new InjectionPolicy[classCount];
        Arrays.fill(policies, policy(rli));
        return new InjectionContext()
            .policies(policies)
            .capacityBps(rli.capacityBps())
            .maximumGapNs(rli.maximumGapNs())
            .ceilingBps(rli.ceilingBps())
            .referenceLengthBytes(rli.referenceLengthBytes());
    }

    private static InjectionPolicy policy(final Rli rli) {
        return switch (rli.policy()) {
            case ADAPTIVE -> new AdaptivePolicy(
                rli.minimumUtilization(), rli.maximumUtilization(), 1.0 / rli.minimumRateOneIn(),
                1.0 / rli.maximumRateOneIn());
            case EVERY_N -> new EveryNPolicy(rli.everyN());
            case EVERY_INTERVAL -> new EveryIntervalPolicy(rli.everyIntervalNs());
            case COMBINED -> new CombinedPolicy(rli.everyN(), rli.everyIntervalNs());
            case PASSIVE -> throw new IllegalArgumentException("policy passive sends no references");
        };
    }

    static String policyName(final ExporterConfig.Policy policy) {
        return policy.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}

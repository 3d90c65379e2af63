package io.flowlag.exporter.simulation;

import java.security.Provider;
import java.security.SecureRandomSpi;
import java.security.Security;
import java.util.SplittableRandom;

/** Makes the secrets of the product the same for the same seed while it is open: {@code new SecureRandom()} draws from it. */
final class SeededRandomness implements AutoCloseable {
    private static final String NAME = "FlowlagSimulation";
    private static SplittableRandom random = new SplittableRandom(0);

    SeededRandomness(final long seed) {
        random = new SplittableRandom(seed);
        Security.insertProviderAt(new Seeded(), 1);
    }

    @Override
    public void close() {
        Security.removeProvider(NAME);
    }

    /** Comes before all others. */
    private static final class Seeded extends Provider {
        private static final long serialVersionUID = 1;

        private Seeded() {
            super(NAME, "1", "the randomness of a simulation");
            put("SecureRandom." + NAME, Engine.class.getName());
        }
    }

    /** One generator for all. */
    public static final class Engine extends SecureRandomSpi {
        private static final long serialVersionUID = 1;

        @Override
        protected void engineSetSeed(final byte[] seed) {
            // there is one seed
        }

        @Override
        protected void engineNextBytes(final byte[] octets) {
            for (int i = 0; i < octets.length; i++) {
                octets[i] = (byte)random.nextInt();
            }
        }

        @Override
        protected byte[] engineGenerateSeed(final int count) {
            final byte[] octets = new byte[count];
            engineNextBytes(octets);
            return octets;
        }
    }
}

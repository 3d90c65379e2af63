package io.flowlag.exporter.exchange;

import io.flowlag.exporter.exchange.ExchangeSettings.Injection;
import io.flowlag.exporter.exchange.ExchangeSettings.Mode;
import io.flowlag.exporter.exchange.ExchangeSettings.Policy;
import io.flowlag.exporter.exchange.ExchangeSettings.Secrets;
import io.flowlag.exporter.exchange.ExchangeSettings.Selector;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SharedSamplingTest {
    private static final int DRAWS = 200_000;

    private static SharedSampling sampling(final long seed, final int passivePpm, final int witnessPpm) {
        final Injection passive = new Injection(Policy.PASSIVE, 0, 0, 0, 0, 0, 0, 0, 0, passivePpm);
        return new SharedSampling(new ExchangeSettings(1, 0, 1, 0, Mode.CELLS, new Secrets(0, 0, seed), Selector.ALL, passive,
            witnessPpm, List.of(), List.of(), List.of()));
    }

    @Test
    void shouldTakeItsShareAndNoMore() {
        final SharedSampling sampling = sampling(5, 100_000, 10_000);
        final SplittableRandom random = new SplittableRandom(7);
        int passive = 0;
        int witnesses = 0;
        int both = 0;
        for (int i = 0; i < DRAWS; i++) {
            final long hash = random.nextLong();
            passive += sampling.isPassiveReference(hash) ? 1 : 0;
            witnesses += sampling.isWitness(hash) ? 1 : 0;
            both += sampling.isPassiveReference(hash) && sampling.isWitness(hash) ? 1 : 0;
        }
        assertEquals(DRAWS / 10.0, passive, 600);
        assertEquals(DRAWS / 100.0, witnesses, 200);
        assertEquals(DRAWS / 1000.0, both, 70);
    }

    @Test
    void shouldChooseAlikeWithOneSeedOnly() {
        final SplittableRandom random = new SplittableRandom(7);
        int differences = 0;
        for (int i = 0; i < 1000; i++) {
            final long hash = random.nextLong();
            assertEquals(sampling(5, 500_000, 0).isPassiveReference(hash), sampling(5, 500_000, 9).isPassiveReference(hash));
            differences += sampling(5, 500_000, 0).isPassiveReference(hash) != sampling(6, 500_000, 0).isPassiveReference(hash) ?
                1 : 0;
            assertFalse(sampling(5, 0, 0).isWitness(hash));
            assertTrue(sampling(5, 1_000_000, 0).isPassiveReference(hash));
        }
        assertEquals(500, differences, 100);
    }
}

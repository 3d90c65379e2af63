package io.flowlag.network.locate;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Tails against tables. */
class NormalTailTest {
    private static final double RELATIVE = 2e-7;

    @ParameterizedTest
    @CsvSource({"0, -0.6931471805599453", "-1, -1.8410216450092636", "3, -0.0013508099647481923", "-10, -53.23128515051247",
        "-40, -804.6084420137538", "-1000, -500007.8266948122"})
    void shouldKnowTheLogarithmOfProbabilities(final double z, final double expected) {
        assertEquals(expected, NormalTail.logCdf(z), RELATIVE * Math.max(1, Math.abs(expected)));
        if (Math.abs(z) < 30) {
            assertEquals(expected + z * z / 2, Math.log(NormalTail.scaledCdf(z)), RELATIVE * Math.max(1, Math.abs(expected)));
        }
    }

    @ParameterizedTest
    @CsvSource({"0, 0.7978845608", "5, 5.0000014867", "-3, 0.2830986549", "-10, 0.0980932", "-1000, 0.001"})
    void shouldKnowTheMeanOfWhatIsPositive(final double z, final double expected) {
        assertEquals(expected, NormalTail.positiveMean(z, NormalTail.logCdf(z)), 2e-6 * Math.max(1, Math.abs(z)));
    }

    @ParameterizedTest
    @CsvSource({"10, 29.588", "100, 149.449", "1000, 1143.917"})
    void shouldKnowTheQuantileOfResiduals(final double degrees, final double expected) {
        assertEquals(expected, NormalTail.chiSquare999(degrees), expected / 150);
    }
}

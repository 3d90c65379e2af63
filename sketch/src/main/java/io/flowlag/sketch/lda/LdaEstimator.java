package io.flowlag.sketch.lda;

import io.flowlag.sketch.estimate.Cells;
import io.flowlag.sketch.estimate.EstimateStatus;
import io.flowlag.sketch.estimate.SampleBound;
import io.flowlag.sketch.image.ImagePairing;
import io.flowlag.sketch.image.PairingResult;
import io.flowlag.sketch.image.SketchFamily;
import io.flowlag.sketch.image.SketchImage;

/**
 * Compares two points' LDA (LDA paper, sections III-D and III-E). A cell is usable if it holds packets and counts and digests
 * agree; all usable cells of all banks count. One thread; allocates at construction only.
 */
public final class LdaEstimator {
    private final SampleBound bound;

    private SketchImage sender;
    private SketchImage receiver;

    /** An estimator with a confidence of the bound between 0 and 1. */
    public LdaEstimator(final double confidence) {
        bound = new SampleBound(confidence);
    }

    /**
     * Estimates an interval.
     *
     * @param result is filled; says {@link EstimateStatus#NOT_PAIRED} if the pair is refused.
     * @return {@link PairingResult#PAIRED}, or why the pair is refused.
     */
    public PairingResult estimate(
        final SketchImage senderImage, final SketchImage receiverImage, final LdaEstimate result) {
        result.begin(0);
        final PairingResult pairing = receiverImage.family() == SketchFamily.LDA ?
            ImagePairing.check(senderImage, receiverImage) : PairingResult.FAMILY;
        if (pairing == PairingResult.PAIRED) {
            sender = senderImage;
            receiver = receiverImage;
            result.begin(receiver.rows() * receiver.columns());
            measureLoss(result);
            measureMean(result);
            if (result.hasMean()) {
                measureDeviation(result);
            }
        }
        return pairing;
    }

    private void measureMean(final LdaEstimate result) {
        double delaySumNs = 0;
        boolean occupied = false;
        for (int bank = 0; bank < receiver.rows(); bank++) {
            for (int cell = 0; cell < receiver.columns(); cell++) {
                occupied |= Cells.occupied(sender, receiver, bank, cell);
                if (Cells.usable(sender, receiver, bank, cell)) {
                    result.usableCells++;
                    result.samples += receiver.count(bank, cell);
                    delaySumNs += Cells.delaySumNs(sender, receiver, bank, cell);
                }
            }
        }
        if (result.samples > 0) {
            result.mean(EstimateStatus.PRESENT, delaySumNs / result.samples);
        } else {
            result.mean(occupied ? EstimateStatus.NO_USABLE_CELL : EstimateStatus.NO_PACKETS, 0);
        }
    }

    /**
     * Collapses neighbouring cells with opposite signs. The paper squares the difference of delay sums and subtracts the
     * squared mean at the end. Here the mean is subtracted from each sum first: the estimate is the same, without
     * cancellation. With S packets in the mean, the square of cells with a and b packets has the expectation (a + b - (a -
     * b)²/S)·σ²; the mean accounts for the rest. A single usable cell equals the mean and shows no deviation.
     */
    private void measureDeviation(final LdaEstimate result) {
        double squaresNs2 = 0;
        double deviationsNs2 = 0;
        double packets = 0;
        double weight = 0;
        double weightSquares = 0;
        for (int bank = 0; bank < receiver.rows(); bank++) {
            for (int cell = 0; cell < receiver.columns(); cell += 2) {
                final double count = receiver.count(bank, cell) + receiver.count(bank, cell + 1);
                if (count > 0 && agree(bank, cell) && agree(bank, cell + 1)) {
                    final double differenceNs = (double)Cells.delaySumNs(sender, receiver, bank, cell) -
                        Cells.delaySumNs(sender, receiver, bank, cell + 1);
                    final double more = receiver.count(bank, cell) - receiver.count(bank, cell + 1);
                    final double centredNs = differenceNs - result.meanNs() * more;
                    squaresNs2 += differenceNs * differenceNs;
                    deviationsNs2 += centredNs * centredNs;
                    packets += count;
                    final double part = count - more * more / result.samples;
                    weight += part;
                    weightSquares += part * part;
                    result.usablePairs++;
                }
            }
        }
        if (packets > 0 && result.usableCells > 1) {
            result.secondMomentNs2 = squaresNs2 / packets;
            final double deviationNs = Math.sqrt(deviationsNs2 / weight);
            final double degrees = Math.min(result.samples - 1, weight * weight / weightSquares);
            result.spread(deviationNs, bound.factor(result.samples, degrees) * deviationNs / Math.sqrt(result.samples));
        }
    }

    private boolean agree(final int bank, final int cell) {
        return Cells.agree(sender, receiver, bank, cell);
    }

    private void measureLoss(final LdaEstimate result) {
        if (sender.damaged() || receiver.damaged()) {
            return;
        }
        result.hasLoss = true;
        result.sentPackets = sender.packets();
        result.receivedPackets = receiver.packets();
        result.sampledLostPackets = 0;
        for (int bank = 0; bank < receiver.rows(); bank++) {
            for (int cell = 0; cell < receiver.columns(); cell++) {
                result.sampledLostPackets += sender.count(bank, cell) - receiver.count(bank, cell);
            }
        }
    }
}

/** The Lossy Difference Aggregator: mean, deviation and loss of a class of traffic from a few hundred cells. */
package io.flowlag.sketch.lda;

/** Quantiles of a flow's delays in a fixed number of octets, with a bounded relative error. */
package io.flowlag.sketch.quantile;

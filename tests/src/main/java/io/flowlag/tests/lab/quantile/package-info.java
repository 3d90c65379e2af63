/** Quantiles of each flow's delays from packets sampled at both points, through the product's delay stage. */
package io.flowlag.tests.lab.quantile;

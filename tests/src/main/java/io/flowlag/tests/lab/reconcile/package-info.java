/** The RDA paper's figures as experiments: plain classes with {@code run(seeds, scale)}, and what of them the tests hold. */
package io.flowlag.tests.lab.reconcile;

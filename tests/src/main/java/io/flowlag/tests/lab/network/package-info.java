/**
 * Networks: where points go, after the LDA paper; and queues in simulated time, measured by the product's own stages, for merged
 * bounds and where delay arises.
 */
package io.flowlag.tests.lab.network;

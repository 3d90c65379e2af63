/** Experiments on models: what the product estimates, against the truth of queues in simulated time and the papers' figures. */
package io.flowlag.tests.lab;

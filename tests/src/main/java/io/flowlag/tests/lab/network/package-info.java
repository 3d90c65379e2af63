/** Networks of queues in simulated time, measured by the product's own stages: merged bounds, and where delay arises. */
package io.flowlag.tests.lab.network;

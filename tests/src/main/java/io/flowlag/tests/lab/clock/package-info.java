/** Two clocks with offset, drift and wander, loaded paths between them, and what the estimator finds. */
package io.flowlag.tests.lab.clock;

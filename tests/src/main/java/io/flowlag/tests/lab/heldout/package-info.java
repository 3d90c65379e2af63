/** Captures that no estimator was tuned on, and an evaluation of {@code flowlag delay} on them. */
package io.flowlag.tests.lab.heldout;

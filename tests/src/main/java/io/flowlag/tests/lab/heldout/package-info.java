/** Captures that no estimator was tuned on, and a judge that scores {@code flowlag delay} on them. */
package io.flowlag.tests.lab.heldout;

/** A process under load for any time, with everything that must not grow. */
package io.flowlag.tests.soak;

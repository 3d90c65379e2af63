/** A process under load for as long as one likes, with everything that must not grow. */
package io.flowlag.tests.soak;

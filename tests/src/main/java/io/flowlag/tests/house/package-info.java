/** Measures the source tree and the way of a packet and an interval through it: {@code tests/house}. */
package io.flowlag.tests.house;

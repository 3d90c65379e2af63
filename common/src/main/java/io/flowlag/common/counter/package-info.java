/** Counters with one writer and any number of readers. */
package io.flowlag.common.counter;

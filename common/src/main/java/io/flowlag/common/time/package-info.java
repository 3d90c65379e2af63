/** Formats of time. */
package io.flowlag.common.time;

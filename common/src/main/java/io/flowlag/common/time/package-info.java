/** Formats and units of time. */
package io.flowlag.common.time;

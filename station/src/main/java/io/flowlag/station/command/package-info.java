/** {@code flowlag station}: the whole station in one process. */
package io.flowlag.station.command;

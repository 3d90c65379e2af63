/** A simulated network whose exporters send real IPFIX: what {@code flowlag station --demo} shows, and what tests send. */
package io.flowlag.station.demo;

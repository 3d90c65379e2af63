/** The product's agents, two points, the exchange, collectors, disks, clocks and the network in simulated time, from a seed. */
package io.flowlag.exporter.simulation;

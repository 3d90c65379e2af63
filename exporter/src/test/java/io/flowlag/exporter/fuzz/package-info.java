/** Mutated inputs against everything that reads octets of others: targets, the loop that feeds them, and their corpus. */
package io.flowlag.exporter.fuzz;

/**
 * The product as a process: captures, interfaces in network namespaces and configurations in; records, counters and exit codes
 * out.
 */
package io.flowlag.tests.system;

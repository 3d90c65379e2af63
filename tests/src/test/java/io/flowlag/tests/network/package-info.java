/** The library {@code network} on the shared topologies. */
package io.flowlag.tests.network;

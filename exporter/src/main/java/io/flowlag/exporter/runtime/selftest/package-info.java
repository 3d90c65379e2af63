/** The command selftest: packets over loopback through every stage. */
package io.flowlag.exporter.runtime.selftest;

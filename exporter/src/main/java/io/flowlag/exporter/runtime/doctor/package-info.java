/** {@code flowlag doctor}: what about this host would spoil a measurement, and how to mend it. */
package io.flowlag.exporter.runtime.doctor;

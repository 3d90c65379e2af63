/** The command delay: survey of captures, sizing, the table of delays. */
package io.flowlag.exporter.runtime.delay;

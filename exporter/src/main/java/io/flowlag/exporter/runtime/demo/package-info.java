/** The command demo: both measurement points and a collector in one process. */
package io.flowlag.exporter.runtime.demo;

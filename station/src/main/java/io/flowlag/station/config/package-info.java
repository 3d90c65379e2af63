/** The configuration file of a station. */
package io.flowlag.station.config;

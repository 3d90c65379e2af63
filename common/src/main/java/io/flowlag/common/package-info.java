/** What the libraries and the exporter share. Without {@code config} and {@code http} it depends on Agrona alone. */
package io.flowlag.common;

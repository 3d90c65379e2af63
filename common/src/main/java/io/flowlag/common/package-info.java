/** What the libraries and the exporter share. It depends on Agrona alone. */
package io.flowlag.common;

/**
 * HTTP for what is watched: a server with bounded connections and deadlines, and metrics as text. Its own dependency, Jetty, is
 * brought by those who serve.
 */
package io.flowlag.common.http;

/**
 * Templates (RFC 7011 section 3.4): lists of Information Elements with lengths. Elements are named, never numbered; the
 * exporting side takes its templates from a catalog that gives equal lists equal Template IDs.
 */
package io.flowlag.ipfix.template;

/**
 * The sending side of a Transport Session: it builds messages from records, sends and repeats templates, and counts everything
 * (RFC 7011 sections 3, 8 and 10, RFC 5610, RFC 5655). A session and its parts belong to one thread and own their buffers, unless
 * a type states otherwise; enums are immutable, for any thread.
 */
package io.flowlag.ipfix.session;

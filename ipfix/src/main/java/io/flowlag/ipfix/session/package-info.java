/**
 * The sending side of a Transport Session: records become messages, templates go out before and again, everything is counted
 * (RFC 7011 sections 3, 8 and 10, RFC 5610, RFC 5655). A session and all that it is made of belong to one thread and own their
 * buffers, unless a type says otherwise; enums are immutable, for any thread.
 */
package io.flowlag.ipfix.session;

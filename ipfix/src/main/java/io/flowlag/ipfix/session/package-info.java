/**
 * The sending side of a Transport Session: records become messages, templates go out before and again, everything is counted
 * (RFC 7011 sections 3, 8 and 10, RFC 5610, RFC 5655).
 */
package io.flowlag.ipfix.session;

/**
 * Information Elements as data (RFC 7012): types, semantics, units, and a registry that is read from the checked-in copy of
 * IANA's table. No element number is typed into code anywhere else.
 */
package io.flowlag.ipfix.element;

/**
 * Information Elements as data (RFC 7012): types, semantics, units, and a registry that is read from the checked-in copy of
 * IANA's table. No element number is typed into code anywhere else. Enums and elements are immutable, for any thread, and
 * allocate nothing once they are made.
 */
package io.flowlag.ipfix.element;

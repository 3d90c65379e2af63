/**
 * Information Elements as data (RFC 7012): types, semantics, units, and a registry that is read from the checked-in copy of
 * IANA's table. No other code contains element numbers. Enums and elements are immutable, for any thread, and allocate only at
 * construction.
 */
package io.flowlag.ipfix.element;

/** Files that people write: YAML whose nodes have a place, values with units, prefixes, and faults with the way out. */
package io.flowlag.common.config;

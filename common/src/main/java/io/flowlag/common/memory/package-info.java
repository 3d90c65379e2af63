/** Memory off the heap, as the packet path needs it. */
package io.flowlag.common.memory;

/** Files of this process alone, and the order in which they reach the disk. */
package io.flowlag.common.file;

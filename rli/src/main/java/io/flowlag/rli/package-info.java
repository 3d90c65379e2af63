/** Reference Latency Interpolation as a library; see the sub-packages. */
package io.flowlag.rli;

/** TLS over channels that never block. */
package io.flowlag.common.net;

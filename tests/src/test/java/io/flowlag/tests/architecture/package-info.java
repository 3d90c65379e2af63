/** Rules on dependencies. */
package io.flowlag.tests.architecture;

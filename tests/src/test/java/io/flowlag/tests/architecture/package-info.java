/** What may depend on what. */
package io.flowlag.tests.architecture;

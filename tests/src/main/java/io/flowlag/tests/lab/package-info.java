/** The laboratory behind {@code flowlag lab}: experiments after the papers' figures, and what they are compared with. */
package io.flowlag.tests.lab;

/** The laboratory behind {@code flowlag lab}: experiments after the papers' figures, and comparison methods. */
package io.flowlag.tests.lab;

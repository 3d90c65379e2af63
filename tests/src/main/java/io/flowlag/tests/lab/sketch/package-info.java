/** The figures of the LDS and LDA papers: traffic, settings, and comparison methods. */
package io.flowlag.tests.lab.sketch;

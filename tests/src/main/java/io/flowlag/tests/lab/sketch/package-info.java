/** The figures of the LDS and LDA papers: their traffic, their settings, and what they are compared with. */
package io.flowlag.tests.lab.sketch;

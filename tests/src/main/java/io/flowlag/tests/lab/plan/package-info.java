/** Where points go in the networks of the LDA paper: its Figure 9, and what goes beyond it. */
package io.flowlag.tests.lab.plan;

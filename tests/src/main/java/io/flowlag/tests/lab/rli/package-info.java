/** The figures of the RLI paper, and the results of docs/laboratory.md on injection policies, ceilings and classes. */
package io.flowlag.tests.lab.rli;

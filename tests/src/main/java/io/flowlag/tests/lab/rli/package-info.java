/** The figures of the RLI paper, and what docs/laboratory.md says of injection policies, ceilings and classes. */
package io.flowlag.tests.lab.rli;

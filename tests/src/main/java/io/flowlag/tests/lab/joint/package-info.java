/**
 * Joint estimation compared with its parents: traffic and queues of the page docs/joint.md, where the truth of every flow is
 * known.
 */
package io.flowlag.tests.lab.joint;

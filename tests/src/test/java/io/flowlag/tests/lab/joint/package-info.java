/** The laboratory of joint estimation: traffic and queues in simulated time, where the truth of every flow is known. */
package io.flowlag.tests.lab.joint;

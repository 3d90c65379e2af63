/**
 * What system tests share: the product as a child process, network namespaces and raw frames, other people's collectors and
 * decoders, the shared captures and their truth.
 * <p> The tests of this module run in Maven's {@code test} phase. In a build to {@code verify} ({@code mvn -pl tests -am verify})
 * it comes after the exporter's {@code package}, so the runnable jar exists. Tools that are not installed, the shared captures
 * and the jar are looked for by {@link io.flowlag.tests.support.Tools}: what is missing skips a test and says why, or fails it
 * when {@code -Dflowlag.require.tools=true} is set, as {@code CI=true bin/verify} does.
 */
package io.flowlag.tests.support;

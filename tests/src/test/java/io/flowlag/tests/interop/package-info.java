/** The product's records as others read them: collectors and decoders of other projects. */
package io.flowlag.tests.interop;

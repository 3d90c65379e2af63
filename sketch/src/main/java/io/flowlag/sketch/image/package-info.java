/**
 * The bytes of a sketch: its geometry, the layout of preamble and cells, the verifier of images from elsewhere, and pairing.
 * Enums are immutable, for any thread; a view never owns the octets that it is wrapped around.
 */
package io.flowlag.sketch.image;

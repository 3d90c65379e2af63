/** The bytes of a sketch: its geometry, the layout of preamble and cells, the verifier of images from elsewhere, and pairing. */
package io.flowlag.sketch.image;

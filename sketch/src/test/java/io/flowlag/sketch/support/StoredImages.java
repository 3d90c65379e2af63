package io.flowlag.sketch.support;

import io.flowlag.sketch.image.SketchImage;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** Images that version 1 wrote once. */
public final class StoredImages {
    private StoredImages() {
    }

    /** The octets of an image of {@code /images}. */
    public static byte[] octets(final String name) {
        try (InputStream file = StoredImages.class.getResourceAsStream("/images/" + name + ".bin")) {
            return file.readAllBytes();
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** An image of a sketch, wrapped. */
    public static SketchImage read(final String name) {
        final byte[] image = octets(name);
        return new SketchImage().wrap(new UnsafeBuffer(image), 0, image.length);
    }
}

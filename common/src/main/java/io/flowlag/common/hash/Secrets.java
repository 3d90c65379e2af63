package io.flowlag.common.hash;

import java.io.DataInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.security.SecureRandom;

/** Unpredictable numbers, from the kernel where it can be: the JDK's generator takes milliseconds of each start. Any thread. */
public final class Secrets {
    private Secrets() {
    }

    /** {@return 64 random bits; allocates} */
    public static long next() {
        try (DataInputStream random = new DataInputStream(new FileInputStream("/dev/urandom"))) {
            return random.readLong();
        } catch (final IOException ex) {
            return new SecureRandom().nextLong();
        }
    }
}

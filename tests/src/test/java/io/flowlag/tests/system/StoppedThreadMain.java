package io.flowlag.tests.system;

import io.flowlag.exporter.command.Main;

import java.io.IOException;

/**
 * The product, with an error thrown on the named thread once a line comes on standard input, or with the thread suspended once
 * {@link #SUSPEND} comes. Java 17 can do so.
 */
final class StoppedThreadMain {
    /** On standard input: suspends the thread. */
    static final byte SUSPEND = 's';

    private StoppedThreadMain() {
    }

    /**
     * Runs the product.
     *
     * @param arguments name of the thread, and those of the product.
     */
    public static void main(final String[] arguments) {
        final Thread injector = new Thread(() -> inject(arguments[0]), "injector");
        injector.setDaemon(true);
        injector.start();
        final String[] others = new String[arguments.length - 1];
        System.arraycopy(arguments, 1, others, 0, others.length);
        Main.main(others);
    }

    private static void inject(final String name) {
        try {
            final String method = System.in.read() == SUSPEND ? "suspend" : "stop";
            for (final Thread thread : Thread.getAllStackTraces().keySet()) {
                if (thread.getName().equals(name)) {
                    Thread.class.getMethod(method).invoke(thread);
                }
            }
        } catch (final IOException | ReflectiveOperationException ex) {
            throw new IllegalStateException(ex);
        }
    }
}

package io.flowlag.tests.house;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * An agent of the JVM that reports which source files each {@link Walk} enters. It puts a call to {@link #enter} at the begin of
 * every method of {@code flowlag.jar}, and one to {@link #exit} before each return. A thread records only inside a walk. At the
 * end of the process the agent writes a line for each walk, thread, file and package that is entered again: in how many calls.
 */
public final class CallTrace implements ClassFileTransformer {
    private static final String PRODUCT = "io/flowlag/";
    private static final String SELF = CallTrace.class.getName().replace('.', '/');

    private static final List<Method> METHODS = new ArrayList<>();
    private static final Map<Walk, Counts> COUNTS = new EnumMap<>(Walk.class);
    private static final ThreadLocal<Stack> STACK = ThreadLocal.withInitial(Stack::new);
    private static volatile Method[] methods = new Method[0];

    /** A method of the product. {@code name} begins with the class; {@code file} and its package {@code room} are paths. */
    private record Method(int number, String name, String file, String room, Set<Walk> begins, Set<Walk> leaves) {
        private static Method of(final int number, final String name, final String file) {
            final Set<Walk> begins = new HashSet<>();
            final Set<Walk> leaves = new HashSet<>();
            for (final Walk walk : Walk.values()) {
                if (walk.root.equals(name)) {
                    begins.add(walk);
                }
                if (walk.leftOut.contains(name)) {
                    leaves.add(walk);
                }
            }
            return new Method(number, name, file, file.substring(0, file.lastIndexOf('/')), begins, leaves);
        }
    }

    /** Sums over the calls of a walk. */
    private static final class Counts {
        private final Map<String, Integer> lines = new TreeMap<>();
        private int calls;

        private void add(final String kind, final Set<String> names) {
            names.forEach(name -> lines.merge(kind + '\t' + name, 1, Integer::sum));
        }
    }

    /** A call under way. */
    private static final class Call {
        private final Walk walk;
        private final int depth;
        private final BitSet entered = new BitSet();
        private final Set<String> again = new HashSet<>();
        private int leftOutDepth = Integer.MAX_VALUE;

        private Call(final Walk walk, final int depth) {
            this.walk = walk;
            this.depth = depth;
        }
    }

    /** The methods that a thread is in. */
    private static final class Stack {
        private final Deque<Call> calls = new ArrayDeque<>();
        private Method[] path = new Method[256];
        private int depth;

        private void enter(final Method method) {
            if (depth == path.length) {
                path = Arrays.copyOf(path, 2 * depth);
            }
            path[depth] = method;
            for (final Walk walk : method.begins) {
                calls.push(new Call(walk, depth));
            }
            for (final Call call : calls) {
                if (method.leaves.contains(call.walk)) {
                    call.leftOutDepth = Math.min(call.leftOutDepth, depth);
                }
                if (depth < call.leftOutDepth) {
                    call.entered.set(method.number);
                    lookForReturn(call, method);
                }
            }
            depth++;
        }

        /** Whether a method is called by another package that its own package has called. */
        private void lookForReturn(final Call call, final Method method) {
            if (depth == call.depth || method.room.equals(path[depth - 1].room)) {
                return;
            }
            for (int i = depth - 2; i >= call.depth; i--) {
                if (method.room.equals(path[i].room)) {
                    call.again.add(method.room + " from " + path[depth - 1].room);
                }
            }
        }

        /** Ends a method, and those above it that an exception has ended. */
        private void exit(final Method method) {
            int to = depth - 1;
            while (to >= 0 && path[to] != method) {
                to--;
            }
            if (to < 0) {
                return;
            }
            depth = to;
            while (!calls.isEmpty() && calls.peek().depth >= depth) {
                count(calls.pop());
            }
            for (final Call call : calls) {
                if (depth <= call.leftOutDepth) {
                    call.leftOutDepth = Integer.MAX_VALUE;
                }
            }
        }
    }

    private final Path output;

    private CallTrace(final Path output) {
        this.output = output;
    }

    /**
     * Begins to trace.
     *
     * @param output          file for the result.
     * @param instrumentation of this JVM.
     */
    public static void premain(final String output, final Instrumentation instrumentation) {
        final CallTrace trace = new CallTrace(Path.of(output));
        instrumentation.addTransformer(trace);
        Runtime.getRuntime().addShutdownHook(new Thread(trace::write));
    }

    /** A method begins. */
    public static void enter(final int method) {
        STACK.get().enter(methods[method]);
    }

    /** A method returns. */
    public static void exit(final int method) {
        STACK.get().exit(methods[method]);
    }

    private static void count(final Call call) {
        final Set<String> files = new HashSet<>();
        boolean isCounted = false;
        for (int i = call.entered.nextSetBit(0); i >= 0; i = call.entered.nextSetBit(i + 1)) {
            files.add(methods[i].file);
            isCounted |= call.walk.isRequired(methods[i].name);
        }
        if (isCounted) {
            synchronized (COUNTS) {
                final Counts counts = COUNTS.computeIfAbsent(call.walk, walk -> new Counts());
                counts.calls++;
                counts.add("file", files);
                counts.add("again", call.again);
                counts.add("thread", Set.of(Thread.currentThread().getName()));
            }
        }
    }

    private void write() {
        final List<String> lines = new ArrayList<>();
        synchronized (COUNTS) {
            COUNTS.forEach((walk, counts) -> {
                lines.add(walk + "\tcalls\t\t" + counts.calls);
                counts.lines.forEach((line, count) -> lines.add(walk + "\t" + line + "\t" + count));
            });
        }
        try {
            Files.write(output, lines);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    @Override
    public byte[] transform(
        final ClassLoader loader, final String className, final Class<?> old, final ProtectionDomain domain,
        final byte[] octets) {
        if (className == null || !className.startsWith(PRODUCT) || domain == null ||
            !domain.getCodeSource().getLocation().getPath().endsWith("/flowlag.jar")) {
            return null;
        }
        final ClassReader reader = new ClassReader(octets);
        final ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        reader.accept(new Instrumenter(writer, className.substring(PRODUCT.length())), 0);
        return writer.toByteArray();
    }

    private static int register(final String name, final String file) {
        synchronized (METHODS) {
            METHODS.add(Method.of(METHODS.size(), name, file));
            if (METHODS.size() > methods.length) {
                methods = METHODS.toArray(new Method[2 * METHODS.size()]);
            } else {
                methods[METHODS.size() - 1] = METHODS.get(METHODS.size() - 1);
            }
            return METHODS.size() - 1;
        }
    }

    /** Adds the calls to a class. */
    private static final class Instrumenter extends ClassVisitor {
        private final String className;
        private String file;

        private Instrumenter(final ClassVisitor next, final String className) {
            super(Opcodes.ASM9, next);
            this.className = className;
            file = className;
        }

        @Override
        public void visitSource(final String source, final String debug) {
            file = className.substring(0, className.lastIndexOf('/') + 1) + source;
            super.visitSource(source, debug);
        }

        @Override
        public MethodVisitor visitMethod(
            final int access, final String name, final String descriptor, final String signature, final String[] exceptions) {
            final MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
            if ("<clinit>".equals(name) || (access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE)) != 0) {
                return next;
            }
            final int number = register(className.replace('/', '.').replaceFirst("\\$.*", "") + "." + name, file);
            return new MethodVisitor(Opcodes.ASM9, next) {
                @Override
                public void visitCode() {
                    super.visitCode();
                    call("enter");
                }

                @Override
                public void visitInsn(final int opcode) {
                    if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
                        call("exit");
                    }
                    super.visitInsn(opcode);
                }

                private void call(final String method) {
                    super.visitLdcInsn(number);
                    super.visitMethodInsn(Opcodes.INVOKESTATIC, SELF, method, "(I)V", false);
                }
            };
        }
    }
}

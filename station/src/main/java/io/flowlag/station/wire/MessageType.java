package io.flowlag.station.wire;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSchemaCompatibility;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

import java.io.IOException;

/**
 * The type of a protobuf message on streams and in state: its length in four octets, then its octets. State of an older version
 * of the message is read by protobuf's rules. Immutable.
 *
 * @param <M> the message.
 */
public final class MessageType<M extends Message> extends TypeInformation<M> {
    private static final long serialVersionUID = 1;

    private final Class<M> type;

    private MessageType(final Class<M> type) {
        this.type = type;
    }

    /** {@return the type of a message} */
    public static <M extends Message> MessageType<M> forMessage(final Class<M> type) {
        return new MessageType<>(type);
    }

    @Override
    public boolean isBasicType() {
        return false;
    }

    @Override
    public boolean isTupleType() {
        return false;
    }

    @Override
    public int getArity() {
        return 1;
    }

    @Override
    public int getTotalFields() {
        return 1;
    }

    @Override
    public Class<M> getTypeClass() {
        return type;
    }

    @Override
    public boolean isKeyType() {
        return false;
    }

    @Override
    public TypeSerializer<M> createSerializer(final SerializerConfig config) {
        return new Serializer<>(type);
    }

    @Override
    public String toString() {
        return type.getSimpleName();
    }

    @Override
    public boolean equals(final Object other) {
        return other instanceof MessageType<?> message && type == message.type;
    }

    @Override
    public int hashCode() {
        return type.hashCode();
    }

    @Override
    public boolean canEqual(final Object other) {
        return other instanceof MessageType;
    }

    /** Writes and reads messages. Used by one thread; messages are immutable, so that copies are the same. */
    private static final class Serializer<M extends Message> extends TypeSerializer<M> {
        private static final long serialVersionUID = 1;

        private final Class<M> type;
        private transient M empty;

        private Serializer(final Class<M> type) {
            this.type = type;
        }

        private M empty() {
            if (empty == null) {
                try {
                    empty = type.cast(type.getMethod("getDefaultInstance").invoke(null));
                } catch (final ReflectiveOperationException ex) {
                    throw new IllegalStateException(type + " is no message", ex);
                }
            }
            return empty;
        }

        @Override
        public boolean isImmutableType() {
            return true;
        }

        @Override
        public TypeSerializer<M> duplicate() {
            return new Serializer<>(type);
        }

        @Override
        public M createInstance() {
            return empty();
        }

        @Override
        public M copy(final M from) {
            return from;
        }

        @Override
        public M copy(final M from, final M reuse) {
            return from;
        }

        @Override
        public int getLength() {
            return -1;
        }

        @Override
        public void serialize(final M message, final DataOutputView target) throws IOException {
            final byte[] octets = message.toByteArray();
            target.writeInt(octets.length);
            target.write(octets);
        }

        @Override
        public M deserialize(final DataInputView source) throws IOException {
            final byte[] octets = new byte[source.readInt()];
            source.readFully(octets);
            return parsed(octets);
        }

        @SuppressWarnings("unchecked")
        private M parsed(final byte[] octets) throws InvalidProtocolBufferException {
            return ((Parser<M>)empty().getParserForType()).parseFrom(CodedInputStream.newInstance(octets));
        }

        @Override
        public M deserialize(final M reuse, final DataInputView source) throws IOException {
            return deserialize(source);
        }

        @Override
        public void copy(final DataInputView source, final DataOutputView target) throws IOException {
            final int length = source.readInt();
            target.writeInt(length);
            target.write(source, length);
        }

        @Override
        public boolean equals(final Object other) {
            return other instanceof Serializer<?> serializer && type == serializer.type;
        }

        @Override
        public int hashCode() {
            return type.hashCode();
        }

        @Override
        public TypeSerializerSnapshot<M> snapshotConfiguration() {
            return new Snapshot<>(type);
        }
    }

    /** Of which message a state was; its versions are protobuf's. Public, since Flink makes it by its name. */
    public static final class Snapshot<M extends Message> implements TypeSerializerSnapshot<M> {
        private Class<M> type;

        /** To be read. */
        public Snapshot() {
        }

        private Snapshot(final Class<M> type) {
            this.type = type;
        }

        @Override
        public int getCurrentVersion() {
            return 1;
        }

        @Override
        public void writeSnapshot(final DataOutputView out) throws IOException {
            out.writeUTF(type.getName());
        }

        @Override
        @SuppressWarnings("unchecked")
        public void readSnapshot(final int version, final DataInputView in, final ClassLoader loader) throws IOException {
            final String name = in.readUTF();
            try {
                type = (Class<M>)Class.forName(name, true, loader).asSubclass(Message.class);
            } catch (final ClassNotFoundException | ClassCastException ex) {
                throw new IOException("state is of " + name + ", which is no message of this version", ex);
            }
        }

        @Override
        public TypeSerializer<M> restoreSerializer() {
            return new Serializer<>(type);
        }

        @Override
        public TypeSerializerSchemaCompatibility<M> resolveSchemaCompatibility(final TypeSerializerSnapshot<M> older) {
            return older instanceof Snapshot<M> snapshot && snapshot.type == type ?
                TypeSerializerSchemaCompatibility.compatibleAsIs() : TypeSerializerSchemaCompatibility.incompatible();
        }
    }
}

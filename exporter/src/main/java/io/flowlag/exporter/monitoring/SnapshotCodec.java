package io.flowlag.exporter.monitoring;

import com.fasterxml.jackson.annotation.JsonAutoDetect;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonSetter;
import com.fasterxml.jackson.annotation.Nulls;
import com.fasterxml.jackson.annotation.PropertyAccessor;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.NopAnnotationIntrospector;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.common.config.Prefix;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.listing.RowSample;
import io.flowlag.exporter.listing.RowSpell;
import io.flowlag.exporter.monitoring.top.FlowRanking;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.JointStatistics;
import io.flowlag.exporter.status.LatencySummary;
import io.flowlag.exporter.status.ReconcileStatistics;
import io.flowlag.exporter.status.SpoolStatistics;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * The contents of a snapshot in the status file: octets of the JSON (4), the snapshot without histograms and flows as JSON, and
 * the image of each flow ({@link FlowDelay#IMAGE_LENGTH_BYTES}). The JSON has every component of the records, by its name in the
 * code. Every change of these names or of the image raises {@link StatusFile#VERSION}. Stateless.
 */
final class SnapshotCodec {
    /** Types of components that may be null, as may those that are annotated with {@code NON_NULL}. */
    private static final Set<Class<?>> NULLABLE = Set.of(Long.class, LatencySummary.class, SpoolStatistics.class,
        JointStatistics.class, ReconcileStatistics.class, Prefix.class, RowSample.class, RowSpell.class);

    /** Ignores what the annotations say of {@code --stats}, and accepts all components alone. */
    private static final ObjectMapper MAPPER = JsonMapper.builder()
        .annotationIntrospector(new NopAnnotationIntrospector() {
            private static final long serialVersionUID = 1L;

            @Override
            public JsonSetter.Value findSetterInfo(final Annotated component) {
                final JsonInclude inclusion = component.getAnnotation(JsonInclude.class);
                final boolean isNullable = NULLABLE.contains(component.getRawType()) ||
                    inclusion != null && inclusion.value() == JsonInclude.Include.NON_NULL;
                return JsonSetter.Value.forValueNulls(isNullable ? Nulls.SET : Nulls.FAIL, Nulls.FAIL);
            }
        })
        .visibility(PropertyAccessor.IS_GETTER, JsonAutoDetect.Visibility.NONE)
        .disable(SerializationFeature.FAIL_ON_EMPTY_BEANS)
        .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES, DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
        .build();

    /** The counters by label, and the snapshot, in which they are 0. */
    private record Contents(Map<String, Long> counters, StatusSnapshot snapshot) {
    }

    private SnapshotCodec() {
    }

    /** {@return the contents; flows come from the ranking, since the snapshot has only a few} */
    static DirectBuffer encode(final StatusSnapshot snapshot, final FlowRanking flows) {
        final byte[] json;
        try {
            json = MAPPER.writeValueAsBytes(
                new Contents(snapshot.statistics().counters().byLabel(), snapshot.withFlows(List.of())));
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
        final int flowsOffset = Integer.BYTES + json.length;
        final UnsafeBuffer contents = new UnsafeBuffer(new byte[flowsOffset + flows.size() * FlowDelay.IMAGE_LENGTH_BYTES]);
        contents.putInt(0, json.length, LITTLE_ENDIAN);
        contents.putBytes(Integer.BYTES, json);
        for (int i = 0; i < flows.size(); i++) {
            contents.putBytes(
                flowsOffset + i * FlowDelay.IMAGE_LENGTH_BYTES, flows.flows(), flows.offset(i), FlowDelay.IMAGE_LENGTH_BYTES);
        }
        return contents;
    }

    static StatusSnapshot decode(final DirectBuffer contents) {
        final int jsonBytes = contents.capacity() < Integer.BYTES ? -1 : contents.getInt(0, LITTLE_ENDIAN);
        final int flowsBytes = contents.capacity() - Integer.BYTES - jsonBytes;
        if (jsonBytes < 0 || flowsBytes < 0 || flowsBytes % FlowDelay.IMAGE_LENGTH_BYTES != 0) {
            throw new ExitException(ExitCode.DAMAGED_INPUT, "its contents are cut or damaged");
        }
        final byte[] json = new byte[jsonBytes];
        contents.getBytes(Integer.BYTES, json);
        final Contents read;
        try {
            read = MAPPER.readValue(json, Contents.class);
        } catch (final IOException ex) {
            throw new ExitException(ExitCode.DAMAGED_INPUT, "its contents are damaged");
        }
        if (read == null || read.snapshot() == null || read.counters() == null) {
            throw new ExitException(ExitCode.DAMAGED_INPUT, "its contents are damaged");
        }
        final Counters counters = read.snapshot().statistics().counters();
        for (int i = 0; i < CounterId.count(); i++) {
            counters.set(CounterId.of(i), read.counters().getOrDefault(CounterId.of(i).label(), 0L));
        }
        final List<FlowView> flows = new ArrayList<>();
        for (int offset = Integer.BYTES + jsonBytes; offset < contents.capacity(); offset += FlowDelay.IMAGE_LENGTH_BYTES) {
            flows.add(FlowView.of(contents, offset));
        }
        return read.snapshot().withFlows(FlowView.slowestFirst(flows));
    }
}

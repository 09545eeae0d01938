import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.co.ProcessJoinFunction;
import org.apache.flink.streaming.api.functions.sink.legacy.RichSinkFunction;
import org.apache.flink.streaming.api.functions.source.legacy.SourceFunction;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.util.Collector;
import org.apache.parquet.column.ColumnReader;
import org.apache.parquet.column.impl.ColumnReadStoreImpl;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.example.data.simple.convert.GroupRecordConverter;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.schema.MessageType;

/**
 * The joins of the benchmarks as jobs of Flink's DataStream API, over the same Parquet files as Spark's.
 *
 * <p>Arguments: the folder with {@code left} and {@code right}, {@code interval} or {@code tumbling}, where to write, and how
 * often to run; prints the seconds of each run.
 */
public final class FlinkJoins {

    /** Key, event time in microseconds, value, row number. */
    private static final TypeInformation<Tuple4<Long, Long, Double, Long>> EVENT =
        Types.TUPLE(Types.LONG, Types.LONG, Types.DOUBLE, Types.LONG);

    private static final Duration DELAY = Duration.ofSeconds(5);

    public static void main(String[] args) throws Exception {
        for (int run = 0; run < Integer.parseInt(args[3]); run++) {
            long begun = System.nanoTime();
            execute(args[0], args[1], args[2] + "/" + run);
            System.out.println((System.nanoTime() - begun) / 1e9);
        }
    }

    private static void execute(String folder, String kind, String output) throws Exception {
        Configuration settings = new Configuration();
        settings.setString("taskmanager.memory.network.max", "256mb");
        settings.setString("taskmanager.memory.network.min", "256mb");
        StreamExecutionEnvironment env = StreamExecutionEnvironment.createLocalEnvironment(2, settings);
        env.getConfig().enableObjectReuse();
        DataStream<Tuple4<Long, Long, Double, Long>> left = side(env, folder + "/left");
        DataStream<Tuple4<Long, Long, Double, Long>> right = side(env, folder + "/right");
        DataStream<long[]> joined;
        if (kind.equals("interval")) {
            joined =
                left.keyBy(event -> event.f0)
                    .intervalJoin(right.keyBy(event -> event.f0))
                    .between(Duration.ofSeconds(-5), Duration.ofSeconds(5))
                    .process(
                        new ProcessJoinFunction<Tuple4<Long, Long, Double, Long>, Tuple4<Long, Long, Double, Long>, long[]>() {
                            @Override
                            public void processElement(
                                Tuple4<Long, Long, Double, Long> one,
                                Tuple4<Long, Long, Double, Long> other,
                                Context context,
                                Collector<long[]> out) {
                                out.collect(pair(one, other));
                            }
                        });
        } else {
            joined =
                left.join(right)
                    .where(event -> event.f0)
                    .equalTo(event -> event.f0)
                    .window(TumblingEventTimeWindows.of(Duration.ofSeconds(10)))
                    .apply(
                        (JoinFunction<Tuple4<Long, Long, Double, Long>, Tuple4<Long, Long, Double, Long>, long[]>)
                            FlinkJoins::pair,
                        TypeInformation.of(long[].class));
        }
        joined.addSink(new Written(output));
        env.execute();
    }

    private static long[] pair(Tuple4<Long, Long, Double, Long> one, Tuple4<Long, Long, Double, Long> other) {
        return new long[] {
            one.f0, one.f1, Double.doubleToLongBits(one.f2), one.f3, other.f0, other.f1, Double.doubleToLongBits(other.f2), other.f3
        };
    }

    private static DataStream<Tuple4<Long, Long, Double, Long>> side(StreamExecutionEnvironment env, String folder) {
        WatermarkStrategy<Tuple4<Long, Long, Double, Long>> marks =
            WatermarkStrategy.<Tuple4<Long, Long, Double, Long>>forBoundedOutOfOrderness(DELAY)
                .withTimestampAssigner((event, before) -> event.f1 / 1000);
        return env.addSource(new Recorded(folder), EVENT).assignTimestampsAndWatermarks(marks);
    }

    /** The rows of a folder's files, in order; those that end the recording are left out. */
    private static final class Recorded implements SourceFunction<Tuple4<Long, Long, Double, Long>> {

        private final String folder;
        private volatile boolean running = true;

        Recorded(String folder) {
            this.folder = folder;
        }

        @Override
        public void run(SourceContext<Tuple4<Long, Long, Double, Long>> out) throws Exception {
            List<Path> files;
            try (Stream<Path> found = Files.list(Path.of(folder))) {
                files = found.filter(each -> each.toString().endsWith(".parquet")).sorted().toList();
            }
            for (Path file : files) {
                try (ParquetFileReader reader = ParquetFileReader.open(new LocalInputFile(file))) {
                    MessageType schema = reader.getFileMetaData().getSchema();
                    for (PageReadStore pages = reader.readNextRowGroup(); pages != null; pages = reader.readNextRowGroup()) {
                        emit(pages, schema, reader.getFileMetaData().getCreatedBy(), out);
                    }
                }
            }
        }

        private void emit(
            PageReadStore pages, MessageType schema, String writer, SourceContext<Tuple4<Long, Long, Double, Long>> out) {
            ColumnReadStoreImpl store =
                new ColumnReadStoreImpl(pages, new GroupRecordConverter(schema).getRootConverter(), schema, writer);
            ColumnReader key = store.getColumnReader(schema.getColumnDescription(new String[] {"key"}));
            ColumnReader time = store.getColumnReader(schema.getColumnDescription(new String[] {"t"}));
            ColumnReader value = store.getColumnReader(schema.getColumnDescription(new String[] {"value"}));
            ColumnReader row = store.getColumnReader(schema.getColumnDescription(new String[] {"__row"}));
            for (long left = pages.getRowCount(); left > 0 && running; left--) {
                boolean known = value.getCurrentDefinitionLevel() > 0;
                Tuple4<Long, Long, Double, Long> event =
                    Tuple4.of(key.getLong(), time.getLong(), known ? value.getDouble() : 0.0, row.getLong());
                for (ColumnReader each : List.of(key, time, value, row)) {
                    each.consume();
                }
                if (event.f3 >= 0) {
                    out.collect(event);
                }
            }
        }

        @Override
        public void cancel() {
            running = false;
        }
    }

    /** A file for each subtask. */
    private static final class Written extends RichSinkFunction<long[]> {

        private final String folder;
        private transient DataOutputStream file;

        Written(String folder) {
            this.folder = folder;
        }

        @Override
        public void invoke(long[] pair, Context context) throws IOException {
            if (file == null) {
                Files.createDirectories(Path.of(folder));
                String name = "part-" + getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
                file = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(Path.of(folder, name)), 1 << 16));
            }
            for (long each : pair) {
                file.writeLong(each);
            }
        }

        @Override
        public void close() {
            try {
                if (file != null) {
                    file.close();
                }
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }
    }
}

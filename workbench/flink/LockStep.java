import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.eventtime.BoundedOutOfOrdernessWatermarks;
import org.apache.flink.api.common.eventtime.IndexedCombinedWatermarkStatus;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.functions.CoGroupFunction;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Metric;
import org.apache.flink.metrics.MetricConfig;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.reporter.MetricReporter;
import org.apache.flink.metrics.reporter.MetricReporterFactory;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.KeyedStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.co.ProcessJoinFunction;
import org.apache.flink.streaming.api.functions.source.legacy.SourceFunction;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.api.windowing.assigners.EventTimeSessionWindows;
import org.apache.flink.streaming.api.windowing.assigners.SlidingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.assigners.WindowAssigner;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;
import org.apache.flink.streaming.runtime.io.PushingAsyncDataInput;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.RecordAttributes;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.StatusWatermarkValve;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.data.writer.BinaryRowWriter;
import org.apache.flink.table.runtime.generated.GeneratedJoinCondition;
import org.apache.flink.table.runtime.generated.JoinCondition;
import org.apache.flink.table.runtime.operators.join.FlinkJoinType;
import org.apache.flink.table.runtime.operators.join.KeyedCoProcessOperatorWithWatermarkDelay;
import org.apache.flink.table.runtime.operators.join.interval.IntervalJoinFunction;
import org.apache.flink.table.runtime.operators.join.interval.RowTimeIntervalJoin;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/**
 * Runs recordings through joins of Flink on a mini cluster, row by row: the source sends a row, or a watermark, only when
 * the join has done with the one before.
 *
 * <p>Reads cases from standard input, in lines of words: {@code case <kind> <numbers>}, {@code delay <left> <right>};
 * {@code row <side> <number> <key> <time>}, {@code idle <side>}, {@code step} (the watermark moves) and {@code run}.
 * Prints for each case {@code out <step> <end> <lefts> <rights>} and {@code late <side> <number>}, then {@code done}.
 */
public final class LockStep {

    private static final TypeInformation<Tuple4<Integer, Integer, Long, Long>> ROW =
        Types.TUPLE(Types.INT, Types.INT, Types.LONG, Types.LONG);
    private static final long PATIENCE = 30_000_000_000L; // nanoseconds

    /** What the parts of one job share: they run in one Java. */
    private static volatile Thread joining;

    private static final AtomicInteger STEP = new AtomicInteger();
    private static final AtomicInteger TAKEN = new AtomicInteger();
    private static final AtomicLong PASSED = new AtomicLong();
    private static final List<String> FOUND = new ArrayList<>();
    private static final Map<String, Counter> COUNTERS = new ConcurrentHashMap<>();
    private static List<String[]> events = new ArrayList<>();
    private static String[] delays;
    private static boolean windowed;

    private LockStep() {}

    public static void main(String[] words) {
        try {
            serve();
        } catch (Throwable error) { // threads of the cluster would keep this Java alive
            error.printStackTrace();
            System.exit(1);
        }
        System.exit(0);
    }

    private static void serve() throws Exception {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String[] kind = null;
        Configuration settings = new Configuration();
        settings.setString("metrics.reporters", "lockstep");
        settings.setString("metrics.reporter.lockstep.factory.class", Counters.class.getName());
        settings.setString("rest.port", "0");
        MiniClusterConfiguration one =
            new MiniClusterConfiguration.Builder()
                .setConfiguration(settings)
                .setNumTaskManagers(1)
                .setNumSlotsPerTaskManager(1)
                .build();
        MiniCluster cluster = new MiniCluster(one);
        cluster.start();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] each = line.split(" ");
            switch (each[0]) {
                case "case":
                    kind = each;
                    events = new ArrayList<>();
                    break;
                case "delay":
                    delays = each;
                    break;
                case "run":
                    run(kind, cluster);
                    FOUND.forEach(out::println);
                    out.println("done");
                    break;
                default:
                    events.add(each);
            }
        }
    }

    private static void run(String[] kind, MiniCluster cluster) throws Exception {
        STEP.set(0);
        TAKEN.set(0);
        PASSED.set(Long.MIN_VALUE);
        FOUND.clear();
        COUNTERS.clear();
        joining = null;
        windowed = !kind[1].equals("interval") && !kind[1].equals("sql");
        StreamExecutionEnvironment env = StreamExecutionEnvironment.createLocalEnvironment(1);
        env.setBufferTimeout(0);
        env.getConfig().setAutoWatermarkInterval(0);
        DataStream<Tuple4<Integer, Integer, Long, Long>> both = env.addSource(new Events(), ROW);
        DataStream<Tuple4<Integer, Integer, Long, Long>> left = both.filter(row -> row.f0 == 0);
        DataStream<Tuple4<Integer, Integer, Long, Long>> right = both.filter(row -> row.f0 == 1);
        SingleOutputStreamOperator<String> joined;
        switch (kind[1]) {
            case "interval":
                joined = interval(left, right, kind);
                break;
            case "sql":
                joined = sql(left, right, Long.parseLong(kind[2]), Long.parseLong(kind[3]), kind[4]);
                break;
            default:
                joined =
                    left.coGroup(right)
                        .where(new Keys(), Types.LONG)
                        .equalTo(new Keys(), Types.LONG)
                        .window(assigner(kind))
                        .allowedLateness(Duration.ofMillis(Long.parseLong(kind[2])))
                        .apply((CoGroupFunction<Tuple4<Integer, Integer, Long, Long>, Tuple4<Integer, Integer, Long, Long>, String>)
                            LockStep::group, Types.STRING);
        }
        joined.transform("end", Types.STRING, new End());
        cluster.executeJobBlocking(env.getStreamGraph().getJobGraph());
    }

    private static WindowAssigner<Object, TimeWindow> assigner(String[] kind) {
        Duration first = Duration.ofMillis(Long.parseLong(kind[3]));
        switch (kind[1]) {
            case "tumbling":
                return TumblingEventTimeWindows.of(first, Duration.ofMillis(Long.parseLong(kind[4])));
            case "sliding":
                return SlidingEventTimeWindows.of(
                    first, Duration.ofMillis(Long.parseLong(kind[4])), Duration.ofMillis(Long.parseLong(kind[5])));
            default:
                return cast(EventTimeSessionWindows.withGap(first));
        }
    }

    @SuppressWarnings("unchecked")
    private static <T> T cast(Object each) {
        return (T) each;
    }

    private static void group(
        Iterable<Tuple4<Integer, Integer, Long, Long>> lefts,
        Iterable<Tuple4<Integer, Integer, Long, Long>> rights,
        Collector<String> out) {
        out.collect(numbers(lefts) + " " + numbers(rights));
    }

    private static String numbers(Iterable<Tuple4<Integer, Integer, Long, Long>> rows) {
        StringBuilder text = new StringBuilder();
        rows.forEach(row -> text.append(text.length() == 0 ? "" : ",").append(row.f1));
        return text.length() == 0 ? "-" : text.toString();
    }

    private static SingleOutputStreamOperator<String> interval(
        DataStream<Tuple4<Integer, Integer, Long, Long>> left,
        DataStream<Tuple4<Integer, Integer, Long, Long>> right,
        String[] kind) {
        OutputTag<Tuple4<Integer, Integer, Long, Long>> late = new OutputTag<>("late", ROW);
        KeyedStream.IntervalJoined<Tuple4<Integer, Integer, Long, Long>, Tuple4<Integer, Integer, Long, Long>, Long> join =
            left.keyBy(new Keys(), Types.LONG)
                .intervalJoin(right.keyBy(new Keys(), Types.LONG))
                .between(Duration.ofMillis(Long.parseLong(kind[2])), Duration.ofMillis(Long.parseLong(kind[3])));
        if (kind[4].equals("true")) {
            join = join.lowerBoundExclusive();
        }
        if (kind[5].equals("true")) {
            join = join.upperBoundExclusive();
        }
        SingleOutputStreamOperator<String> joined =
            join.sideOutputLeftLateData(late)
                .sideOutputRightLateData(late)
                .process(new Pairs(), Types.STRING);
        joined.getSideOutput(late).transform("late", Types.STRING, new Late());
        return joined;
    }

    private static SingleOutputStreamOperator<String> sql(
        DataStream<Tuple4<Integer, Integer, Long, Long>> left,
        DataStream<Tuple4<Integer, Integer, Long, Long>> right,
        long low,
        long high,
        String how) {
        InternalTypeInfo<RowData> one = InternalTypeInfo.of(RowType.of(new BigIntType(), new BigIntType(), new BigIntType()));
        InternalTypeInfo<RowData> two =
            InternalTypeInfo.of(
                RowType.of(
                    new BigIntType(), new BigIntType(), new BigIntType(),
                    new BigIntType(), new BigIntType(), new BigIntType()));
        FlinkJoinType type = FlinkJoinType.valueOf(how);
        IntervalJoinFunction function = new IntervalJoinFunction(new Always(), two, new boolean[] {false});
        RowTimeIntervalJoin join = new RowTimeIntervalJoin(type, -high, -low, 0L, 0L, one, one, function, 2, 2);
        KeyedCoProcessOperatorWithWatermarkDelay<RowData, RowData, RowData, RowData> operator =
            new KeyedCoProcessOperatorWithWatermarkDelay<>(join, 0L);
        DataStream<RowData> lefts = left.map(LockStep::asRow, one);
        DataStream<RowData> rights = right.map(LockStep::asRow, one);
        InternalTypeInfo<RowData> key = InternalTypeInfo.of(RowType.of(new BigIntType()));
        return lefts.keyBy(new RowKeys(), key)
            .connect(rights.keyBy(new RowKeys(), key))
            .transform("join", two, operator)
            .map(
                row -> (row.isNullAt(0) ? "-" : row.getLong(0)) + " " + (row.isNullAt(3) ? "-" : row.getLong(3)),
                Types.STRING);
    }

    private static RowData asRow(Tuple4<Integer, Integer, Long, Long> row) {
        return GenericRowData.of((long) row.f1, row.f2, row.f3);
    }

    private static void taken() {
        Thread here = Thread.currentThread();
        if (!here.getName().contains("Source: ")) {
            joining = here;
            TAKEN.incrementAndGet();
        }
    }

    /** Keys of rows; the join asks for one as it takes a row. */
    public static final class Keys implements KeySelector<Tuple4<Integer, Integer, Long, Long>, Long> {
        @Override
        public Long getKey(Tuple4<Integer, Integer, Long, Long> row) {
            taken();
            return row.f2;
        }
    }

    /** The same of the rows of tables. */
    public static final class RowKeys implements KeySelector<RowData, RowData> {
        @Override
        public RowData getKey(RowData row) {
            taken();
            BinaryRowData key = new BinaryRowData(1);
            BinaryRowWriter writer = new BinaryRowWriter(key);
            writer.writeLong(0, row.getLong(1));
            writer.complete();
            return key;
        }
    }

    /** The condition beside keys and times: none. */
    public static final class Always extends GeneratedJoinCondition {
        public Always() {
            super("", "", new Object[0]);
        }

        @Override
        public JoinCondition newInstance(ClassLoader loader) {
            return new Met();
        }

        @Override
        public JoinCondition newInstance(ClassLoader loader, Object... arguments) {
            return new Met();
        }

        @Override
        public Class<JoinCondition> compile(ClassLoader loader) {
            return cast(Met.class);
        }
    }

    /** Any two rows. */
    public static final class Met extends org.apache.flink.api.common.functions.AbstractRichFunction
        implements JoinCondition {
        @Override
        public boolean apply(RowData left, RowData right) {
            return left.getLong(1) >= 0; // below 0 it is null
        }

        @Override
        public void open(OpenContext context) {}
    }

    /** A pair as text. */
    public static final class Pairs
        extends ProcessJoinFunction<Tuple4<Integer, Integer, Long, Long>, Tuple4<Integer, Integer, Long, Long>, String> {
        @Override
        public void processElement(
            Tuple4<Integer, Integer, Long, Long> left,
            Tuple4<Integer, Integer, Long, Long> right,
            Context context,
            Collector<String> out) {
            out.collect(left.f1 + " " + right.f1);
        }
    }

    /** What comes out, with the step it comes out in, and the last millisecond of its window; and watermarks. */
    public static final class End extends AbstractStreamOperator<String> implements OneInputStreamOperator<String, String> {
        @Override
        public void processElement(StreamRecord<String> row) {
            long time = row.hasTimestamp() ? row.getTimestamp() : 0;
            synchronized (FOUND) {
                FOUND.add("out " + STEP.get() + " " + time + " " + row.getValue());
            }
        }

        @Override
        public void processWatermark(Watermark mark) throws Exception {
            super.processWatermark(mark);
            PASSED.set(mark.getTimestamp());
        }
    }

    /** Late rows of an interval join. */
    public static final class Late extends AbstractStreamOperator<String>
        implements OneInputStreamOperator<Tuple4<Integer, Integer, Long, Long>, String> {
        @Override
        public void processElement(StreamRecord<Tuple4<Integer, Integer, Long, Long>> row) {
            synchronized (FOUND) {
                FOUND.add("late " + row.getValue().f0 + " " + row.getValue().f1);
            }
        }
    }

    /** The recording; watermarks are those of bounded out-of-orderness, put together as Flink does before the join. */
    public static final class Events implements SourceFunction<Tuple4<Integer, Integer, Long, Long>> {
        @Override
        public void run(SourceContext<Tuple4<Integer, Integer, Long, Long>> context) throws Exception {
            Marks marks = windowed ? new Gate() : new Inputs();
            List<Side> sides = List.of(new Side(0, delays[1], marks), new Side(1, delays[2], marks));
            for (String[] event : events) {
                switch (event[0]) {
                    case "row":
                        Tuple4<Integer, Integer, Long, Long> row =
                            Tuple4.of(
                                Integer.valueOf(event[1]), Integer.valueOf(event[2]),
                                Long.valueOf(event[3]), Long.valueOf(event[4]));
                        long before = dropped();
                        int taken = TAKEN.get();
                        context.collectWithTimestamp(row, row.f3);
                        settle(() -> TAKEN.get() > taken);
                        if (dropped() > before) {
                            FOUND.add("late " + row.f0 + " " + row.f1);
                        }
                        sides.get(row.f0).generator.onEvent(row, row.f3, sides.get(row.f0));
                        break;
                    case "idle":
                        sides.get(Integer.parseInt(event[1])).asked = true;
                        break;
                    default:
                        for (Side side : sides) {
                            side.step();
                        }
                        if (marks.combined > PASSED.get()) {
                            context.emitWatermark(new Watermark(marks.combined));
                            settle(() -> PASSED.get() >= marks.combined);
                        }
                        STEP.incrementAndGet();
                }
            }
        }

        @Override
        public void cancel() {}

        private static long dropped() {
            Counter counter = COUNTERS.get("numLateRecordsDropped");
            return counter == null ? 0 : counter.getCount();
        }

        /** Wait until the join has taken what was sent, and waits for more. */
        private static void settle(java.util.function.BooleanSupplier taken) throws InterruptedException {
            long until = System.nanoTime() + PATIENCE;
            while (!taken.getAsBoolean() || !parked()) {
                if (System.nanoTime() > until) {
                    throw new IllegalStateException("the join does not go on");
                }
                Thread.sleep(0, 20_000);
            }
        }

        private static boolean parked() {
            Thread.State state = joining == null ? Thread.State.WAITING : joining.getState();
            return state == Thread.State.WAITING || state == Thread.State.TIMED_WAITING;
        }
    }

    /** One side's watermark generator, and what it sends to the join. */
    private static final class Side implements WatermarkOutput {
        private final int number;
        private final Marks marks;
        private final BoundedOutOfOrdernessWatermarks<Object> generator;
        private long last = Long.MIN_VALUE;
        private boolean idle;
        private boolean asked;

        private Side(int number, String delay, Marks marks) {
            this.number = number;
            this.marks = marks;
            this.generator = new BoundedOutOfOrdernessWatermarks<>(Duration.ofMillis(Long.parseLong(delay)));
        }

        private void step() throws Exception {
            if (asked) {
                markIdle();
            } else {
                generator.onPeriodicEmit(this);
            }
            asked = false;
        }

        @Override
        public void emitWatermark(org.apache.flink.api.common.eventtime.Watermark mark) {
            if (mark.getTimestamp() > last) { // as TimestampsAndWatermarksOperator
                last = mark.getTimestamp();
                markActive();
                marks.mark(number, last);
            }
        }

        @Override
        public void markIdle() {
            if (!idle) {
                idle = true;
                marks.idle(number, true);
            }
        }

        @Override
        public void markActive() {
            if (idle) {
                idle = false;
                marks.idle(number, false);
            }
        }
    }

    /** The watermark of both sides. */
    private abstract static class Marks {
        protected long combined = Long.MIN_VALUE;

        abstract void mark(int side, long mark);

        abstract void idle(int side, boolean idle);
    }

    /** As of an operator of two inputs. */
    private static final class Inputs extends Marks {
        private final IndexedCombinedWatermarkStatus status = IndexedCombinedWatermarkStatus.forInputsCount(2);

        @Override
        void mark(int side, long mark) {
            status.updateWatermark(side, mark);
            combined = status.getCombinedWatermark();
        }

        @Override
        void idle(int side, boolean idle) {
            status.updateStatus(side, idle);
            combined = status.getCombinedWatermark();
        }
    }

    /** As of an input gate with a channel for each side. */
    private static final class Gate extends Marks implements PushingAsyncDataInput.DataOutput<Object> {
        private final StatusWatermarkValve valve = new StatusWatermarkValve(2);

        @Override
        void mark(int side, long mark) {
            try {
                valve.inputWatermark(new Watermark(mark), side, this);
            } catch (Exception error) {
                throw new IllegalStateException(error);
            }
        }

        @Override
        void idle(int side, boolean idle) {
            try {
                valve.inputWatermarkStatus(idle ? WatermarkStatus.IDLE : WatermarkStatus.ACTIVE, side, this);
            } catch (Exception error) {
                throw new IllegalStateException(error);
            }
        }

        @Override
        public void emitWatermark(Watermark mark) {
            combined = mark.getTimestamp();
        }

        @Override
        public void emitRecord(StreamRecord<Object> row) {}

        @Override
        public void emitWatermarkStatus(WatermarkStatus status) {}

        @Override
        public void emitLatencyMarker(LatencyMarker marker) {}

        @Override
        public void emitRecordAttributes(RecordAttributes attributes) {}

        @Override
        public void emitWatermark(org.apache.flink.runtime.event.WatermarkEvent event) {}
    }

    /** Keeps the counters of the join at hand. */
    public static final class Counters implements MetricReporterFactory, MetricReporter {
        @Override
        public MetricReporter createMetricReporter(Properties settings) {
            return this;
        }

        @Override
        public void open(MetricConfig config) {}

        @Override
        public void close() {}

        @Override
        public void notifyOfAddedMetric(Metric metric, String name, MetricGroup group) {
            if (metric instanceof Counter && name.equals("numLateRecordsDropped")) {
                COUNTERS.put(name, (Counter) metric);
            }
        }

        @Override
        public void notifyOfRemovedMetric(Metric metric, String name, MetricGroup group) {}
    }
}

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Metric;
import org.apache.flink.metrics.MetricConfig;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.metrics.reporter.MetricReporter;
import org.apache.flink.metrics.reporter.MetricReporterFactory;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.source.legacy.SourceFunction;
import org.apache.flink.types.Row;

/**
 * Sends the rows of a file through the join of an exported job, whose package it is in: the next one only when the join
 * has taken the one before. A line is a side, then the row's values, with tabs between; nothing stands for null.
 */
public final class RulesInLockStep {

    private static final Map<String, Counter> TAKEN = new ConcurrentHashMap<>();
    private static final String[] LEFT = {"key", "t", "a", "b", "n"};
    private static final String[] RIGHT = {"key", "t", "rule_id", "field", "op", "value", "withdrawn", "m"};
    private static final TypeInformation<Row> EVENT = Types.ROW(Types.INT, Types.GENERIC(Row.class));

    public static void main(String[] words) throws Exception {
        Configuration settings = new Configuration();
        settings.setString("metrics.reporters", "taken");
        settings.setString("metrics.reporter.taken.factory.class", Counters.class.getName());
        settings.setString("rest.port", "0");
        StreamExecutionEnvironment env = StreamExecutionEnvironment.createLocalEnvironment(1, settings);
        env.setBufferTimeout(0);
        DataStream<Row> events = env.addSource(new Events(words[0]), EVENT);
        TypeInformation<Row> left =
            Types.ROW_NAMED(LEFT, Types.STRING, Types.LOCAL_DATE_TIME, Types.DOUBLE, Types.DOUBLE, Types.LONG);
        TypeInformation<Row> right =
            Types.ROW_NAMED(
                RIGHT,
                Types.STRING, Types.LOCAL_DATE_TIME, Types.STRING, Types.STRING, Types.STRING, Types.DOUBLE,
                Types.BOOLEAN, Types.LONG);
        DataStream<Row> lefts = events.filter(each -> each.getField(0).equals(0)).map(RulesInLockStep::inner, left);
        DataStream<Row> rights = events.filter(each -> each.getField(0).equals(1)).map(RulesInLockStep::inner, right);
        ReadingsWithRules.join(lefts, rights).print();
        env.execute();
    }

    private static Row inner(Row event) {
        return (Row) event.getField(1);
    }

    /** The source. */
    public static final class Events implements SourceFunction<Row> {
        private static final long serialVersionUID = 1L;
        private final String file;

        Events(String file) {
            this.file = file;
        }

        @Override
        public void run(SourceContext<Row> context) throws Exception {
            long sent = 0;
            for (String line : Files.readAllLines(Path.of(file))) {
                List<String> cells = List.of(line.split("\t", -1));
                boolean isLeft = cells.get(0).equals("0");
                String[] names = isLeft ? LEFT : RIGHT;
                Row row = Row.withNames();
                for (int place = 0; place < names.length; place++) {
                    row.setField(names[place], value(names[place], cells.get(place + 1)));
                }
                context.collect(Row.of(isLeft ? 0 : 1, row));
                sent++;
                while (TAKEN.values().stream().mapToLong(Counter::getCount).sum() < sent) {
                    Thread.sleep(0, 50_000);
                }
            }
        }

        private static Object value(String name, String text) {
            if (text.isEmpty()) {
                return null;
            }
            switch (name) {
                case "t":
                    return java.time.LocalDateTime.parse(text);
                case "n":
                case "m":
                    return Long.valueOf(text);
                case "a":
                case "b":
                case "value":
                    return Double.valueOf(text);
                case "withdrawn":
                    return Boolean.valueOf(text);
                default:
                    return text;
            }
        }

        @Override
        public void cancel() {}
    }

    /** How many records the join has taken. */
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
            String operator = group.getAllVariables().getOrDefault("<operator_name>", "");
            if (metric instanceof Counter && name.equals("numRecordsIn") && operator.contains("Broadcast")) {
                TAKEN.put(operator, (Counter) metric);
            }
        }

        @Override
        public void notifyOfRemovedMetric(Metric metric, String name, MetricGroup group) {}
    }
}

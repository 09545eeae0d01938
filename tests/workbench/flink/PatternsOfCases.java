import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.flink.api.common.eventtime.Watermark;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.cep.CEP;
import org.apache.flink.cep.functions.PatternProcessFunction;
import org.apache.flink.cep.functions.TimedOutPartialMatchHandler;
import org.apache.flink.runtime.client.JobExecutionException;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

/**
 * Runs the patterns of `Patterns.ALL`, each over the rows of its case: lines of a case, a side, a time, a word, a number
 * and the row's number, with tabs between. Prints what each has found, in order.
 */
public final class PatternsOfCases {

    private static final TypeInformation<Row> ROW =
        Types.ROW_NAMED(new String[] {"t", "kind", "x", "n"}, Types.LONG, Types.STRING, Types.LONG, Types.INT);
    private static final TypeInformation<Row> EVENT = Types.ROW(Types.INT, ROW, ROW);
    private static final int TOGETHER = 40;
    private static final long STEP = 500;
    private static final OutputTag<String> TIMED_OUT = new OutputTag<String>("timed out", Types.STRING) {};

    public static void main(String[] words) throws Exception {
        Map<Integer, List<Row>> cases = new TreeMap<>();
        for (String line : Files.readAllLines(Path.of(words[0]))) {
            String[] cells = line.split("\t", -1);
            Row row = Row.withNames();
            row.setField("t", Long.valueOf(cells[2]));
            row.setField("kind", cells[3]);
            row.setField("x", cells[4].isEmpty() ? null : Long.valueOf(cells[4]));
            row.setField("n", Integer.valueOf(cells[5]));
            boolean isLeft = cells[1].equals("0");
            Row event = Row.of(isLeft ? 0 : 1, isLeft ? row : null, isLeft ? null : row);
            cases.computeIfAbsent(Integer.valueOf(cells[0]), number -> new ArrayList<>()).add(event);
        }
        List<Integer> numbers = new ArrayList<>(cases.keySet());
        numbers.retainAll(Patterns.ALL.keySet());
        for (int from = 0; from < numbers.size(); from += TOGETHER) {
            run(cases, numbers.subList(from, Math.min(from + TOGETHER, numbers.size())));
        }
    }

    /** Runs some cases in one job; where it fails, each in its own, so that the others are not lost. */
    private static void run(Map<Integer, List<Row>> cases, List<Integer> numbers) throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.createLocalEnvironment(1);
        List<CloseableIterator<String>> results = new ArrayList<>();
        for (int number : numbers) {
            List<Row> rows = cases.get(number);
            int count = rows.size();
            SingleOutputStreamOperator<String> found =
                CEP.pattern(
                        env.fromData(rows, EVENT)
                            .assignTimestampsAndWatermarks(
                                WatermarkStrategy.<Row>forGenerator(context -> new Close(count))
                                    .withTimestampAssigner((event, before) -> time(event)))
                            .keyBy(event -> 0),
                        Patterns.ALL.get(number),
                        (one, other) -> Integer.compare((Integer) one.getField(0), (Integer) other.getField(0)))
                    .process(new Found(number), Types.STRING);
            results.add(found.union(found.getSideOutput(TIMED_OUT)).collectAsync());
        }
        try {
            env.execute();
        } catch (JobExecutionException failed) {
            if (numbers.size() == 1) {
                Throwable cause = failed;
                while (cause.getCause() != null) {
                    cause = cause.getCause();
                }
                System.out.println("failed\t" + numbers.get(0) + "\t" + cause);
                return;
            }
            for (int number : numbers) {
                run(cases, List.of(number));
            }
            return;
        }
        for (CloseableIterator<String> result : results) {
            result.forEachRemaining(System.out::println);
            result.close();
        }
    }

    private static long time(Row event) {
        Row row = event.getFieldAs(1 + event.<Integer>getFieldAs(0));
        return row.getFieldAs("t");
    }

    /** Watermarks so close that no two partial matches come to their end between them. */
    private static final class Close implements WatermarkGenerator<Row> {
        private int left;
        private long before = -STEP;

        Close(int rows) {
            this.left = rows;
        }

        @Override
        public void onEvent(Row event, long at, WatermarkOutput output) {
            left--;
            for (; before < (left == 0 ? at + 60_000 : at); before += STEP) {
                output.emitWatermark(new Watermark(before));
            }
            before = Math.min(before, at);
        }

        @Override
        public void onPeriodicEmit(WatermarkOutput output) {}
    }

    private static final class Found extends PatternProcessFunction<Row, String> implements TimedOutPartialMatchHandler<Row> {
        private static final long serialVersionUID = 1L;
        private final int number;

        Found(int number) {
            this.number = number;
        }

        @Override
        public void processMatch(Map<String, List<Row>> match, Context context, Collector<String> out) {
            out.collect("found\t" + number + "\tmatch\t" + text(match));
        }

        @Override
        public void processTimedOutMatch(Map<String, List<Row>> match, Context context) {
            context.output(TIMED_OUT, "found\t" + number + "\ttimed out\t" + text(match));
        }

        private static String text(Map<String, List<Row>> match) {
            StringBuilder text = new StringBuilder();
            new TreeMap<>(match)
                .forEach(
                    (step, rows) -> {
                        text.append(step).append('=');
                        rows.forEach(row -> text.append(row.<Row>getFieldAs(1 + row.<Integer>getFieldAs(0)).getField("n")).append(','));
                        text.append(';');
                    });
            return text.toString();
        }
    }
}

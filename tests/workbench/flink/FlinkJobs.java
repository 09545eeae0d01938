/** Runs jobs one after the other, in one Java; before each it prints its name. */
public final class FlinkJobs {

    public static void main(String[] names) throws Exception {
        for (String name : names) {
            System.out.println("== " + name);
            Class.forName(name).getMethod("main", String[].class).invoke(null, (Object) new String[0]);
        }
    }
}

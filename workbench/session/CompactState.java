package org.apache.spark.sql.execution.streaming.state;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.AbstractMap;
import java.util.Arrays;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.util.KnownSizeEstimation;
import scala.Option;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * Spark's in-memory state store, with its rows side by side in one array in place of seven objects a row.
 *
 * <p>All else is Spark's: what is committed, when, and the files, which Spark's own store reads. Its settings must be the
 * default ones: no checksums of rows, one version in memory.
 */
public class CompactState extends HDFSBackedStateStoreProvider {
  // Spark's compiler takes an inner class of Scala's for one without an outer instance
  private static final Constructor STORE;
  private static final Method LOAD;

  static {
    try {
      Class[] types = {HDFSBackedStateStoreProvider.class, long.class, HDFSBackedStateStoreMap.class, boolean.class};
      STORE = HDFSBackedStateStoreProvider.HDFSBackedStateStore.class.getConstructor(types);
      LOAD = HDFSBackedStateStoreProvider.class.getDeclaredMethod("getLoadedMapForStore", new Class[] {long.class});
      LOAD.setAccessible(true);
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException(error);
    }
  }

  public StateStore getStore(long version, Option checkpoint, boolean forceSnapshot, boolean loadEmpty) {
    if (checkpoint.isDefined() || loadEmpty) {
      return super.getStore(version, checkpoint, forceSnapshot, loadEmpty);
    }
    try {
      return (StateStore) STORE.newInstance(new Object[] {this, version, opened(version), forceSnapshot});
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException(error);
    }
  }

  private synchronized Rows opened(long version) {
    Object last = org$apache$spark$sql$execution$streaming$state$HDFSBackedStateStoreProvider$$loadedMaps().get(version);
    if (last instanceof Rows) {
      return ((Rows) last).next();
    }
    Rows rows = new Rows();
    rows.putAll(loaded(version));
    return rows;
  }

  /** A version that is not in memory, from its files, with Spark's checks. */
  private HDFSBackedStateStoreMap loaded(long version) {
    try {
      return (HDFSBackedStateStoreMap) LOAD.invoke(this, new Object[] {version});
    } catch (InvocationTargetException error) {
      Platform.throwException(error.getCause());
      return null;
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException(error);
    }
  }

  /**
   * The rows of a store in one version: a hash table with open addressing over an array of words.
   *
   * <p>An entry is a word with the lengths of its key and value, then both, as Spark's unsafe rows. A place in the table
   * has an entry's hash in its upper half and where it begins in the lower. Once committed, a version does not change.
   */
  public static class Rows implements HDFSBackedStateStoreMap, KnownSizeEstimation {
    private static final long REMOVED = -1L;
    private static final long GONE = 1L << 63;
    private static final long CHANGED = 1L << 62;
    private static final int LENGTH = (1 << 30) - 1;

    // bytes in Spark's own map, in a JVM with compressed pointers: an unsafe row and its array; that of a value with its
    // wrapper; an entry of the map with its share of the table
    private static final int KEY = 40 + 16;
    private static final int VALUE = 40 + 16 + 16;
    private static final int NODE = 32 + 6;

    private final int least;
    private long[] table;
    long[] words;
    private int end = 1;
    private int used = 0;
    private int size = 0;
    private int keyFields = 0;
    private int valueFields = 0;
    private long liveWords = 0;

    // of the version before: where its entries end here, and bytes that it has alone
    private int begun = 1;
    private long before = 0;

    public Rows() {
      this(1 << 10);
    }

    /** With so many places at first, a power of two. */
    public Rows(int least) {
      this.least = least;
      table = new long[least];
      words = new long[least];
    }

    /** What the next version begins with. */
    public Rows next() {
      Rows next = new Rows(least);
      next.keyFields = keyFields;
      next.valueFields = valueFields;
      if (end > least && liveWords < end / 2) {
        next.words = new long[(int) liveWords + least];
        int place = 1;
        while (place < end) {
          int length = length(words[place]);
          if (words[place] >= 0) {
            int added = next.reserved(length);
            System.arraycopy(words, place, next.words, added, length);
            next.words[added] &= ~CHANGED;
            long key = Platform.LONG_ARRAY_OFFSET + 8L * (place + 1);
            next.enter(hash(words, key, keyLength(words[place]) << 3), added);
          }
          place += length;
        }
      } else {
        next.words = Arrays.copyOf(words, (int) Math.min(Integer.MAX_VALUE - 8, end + end / 4L + least));
        for (int place = 1; place < end; place += length(words[place])) {
          next.words[place] &= ~CHANGED;
        }
        next.table = (long[]) table.clone();
        next.end = end;
        next.used = used;
        next.size = size;
        next.liveWords = liveWords;
      }
      next.begun = next.end;
      next.before = size * (long) NODE;
      return next;
    }

    public int size() {
      return size;
    }

    public UnsafeRow get(UnsafeRow key) {
      int slot = find(key, hash(key));
      return slot < 0 ? null : value((int) table[slot]);
    }

    public UnsafeRowWrapper put(UnsafeRow key, UnsafeRowWrapper wrapper) {
      UnsafeRow row = wrapper.unsafeRow();
      int hash = hash(key);
      int slot = find(key, hash);
      if (slot < 0) {
        add(key, row, hash);
        return null;
      }
      int place = (int) table[slot];
      UnsafeRow before = value(place);
      if (row.getSizeInBytes() >> 3 == valueLength(words[place])) {
        change(place);
        write(row, place + 1 + keyLength(words[place]));
      } else {
        drop(slot);
        add(key, row, hash);
      }
      return new StateStoreRow(before);
    }

    public UnsafeRowWrapper remove(UnsafeRow key) {
      int slot = find(key, hash(key));
      if (slot < 0) {
        return null;
      }
      UnsafeRow before = value((int) table[slot]);
      drop(slot);
      return new StateStoreRow(before);
    }

    public void putAll(HDFSBackedStateStoreMap other) {
      Iterator entries = other.entryIterator();
      while (entries.hasNext()) {
        Map.Entry entry = (Map.Entry) entries.next();
        put((UnsafeRow) entry.getKey(), (UnsafeRowWrapper) entry.getValue());
      }
    }

    public Iterator prefixScan(UnsafeRow prefix) {
      throw new UnsupportedOperationException("a join has no keys with a prefix");
    }

    public Iterator iterator() {
      return new Entries(this, end, false);
    }

    public Iterator entryIterator() {
      return new Entries(this, end, true);
    }

    /**
     * Bytes that these rows take in Spark's own map, with those that only the version before has: Spark keeps two versions,
     * which share the rows that they have in common.
     */
    public long estimatedSize() {
      return (liveWords - size) * 8 + size * (long) (KEY + VALUE + NODE) + before;  // a word of each entry is its header
    }

    private static int keyLength(long header) {
      return (int) (header >>> 32) & LENGTH;
    }

    private static int valueLength(long header) {
      return (int) header;
    }

    static int length(long header) {
      return 1 + keyLength(header) + valueLength(header);
    }

    private static int hash(UnsafeRow key) {
      return hash(key.getBaseObject(), key.getBaseOffset(), key.getSizeInBytes());
    }

    /** Keys that differ in a small last word only, as the rows of a key of fixed width do in their number, are neighbours. */
    private static int hash(Object base, long offset, int bytes) {
      long last = offset + bytes - 8;
      long mixed = 0;
      for (long at = offset; at < last; at += 8) {
        mixed = mixed(mixed ^ Platform.getLong(base, at));
      }
      long word = Platform.getLong(base, last);
      return (int) (mixed + (word >>> 6 == 0 ? word : mixed(word)));
    }

    /** The finaliser of MurmurHash3: every bit of a word moves every bit of the result. */
    private static long mixed(long word) {
      word = (word ^ (word >>> 33)) * 0xFF51AFD7ED558CCDL;
      word = (word ^ (word >>> 33)) * 0xC4CEB9FE1A85EC53L;
      return word ^ (word >>> 33);
    }

    /** The place of a key in the table; below 0 where there is none. */
    private int find(UnsafeRow key, int hash) {
      int mask = table.length - 1;
      int slot = hash & mask;
      long found = table[slot];
      while (found != 0) {
        if ((int) (found >>> 32) == hash && found != REMOVED && same(key, (int) found)) {
          return slot;
        }
        slot = (slot + 1) & mask;
        found = table[slot];
      }
      return -1;
    }

    private boolean same(UnsafeRow key, int place) {
      int length = keyLength(words[place]);
      if (key.getSizeInBytes() != length << 3) {
        return false;
      }
      Object base = key.getBaseObject();
      long offset = key.getBaseOffset();
      for (int n = 1; n <= length; n++) {
        if (words[place + n] != Platform.getLong(base, offset)) {
          return false;
        }
        offset += 8;
      }
      return true;
    }

    private void add(UnsafeRow key, UnsafeRow row, int hash) {
      keyFields = key.numFields();
      valueFields = row.numFields();
      int keyLength = key.getSizeInBytes() >> 3;
      int valueLength = row.getSizeInBytes() >> 3;
      int place = reserved(1 + keyLength + valueLength);
      words[place] = (((long) keyLength) << 32) | valueLength;
      write(key, place + 1);
      write(row, place + 1 + keyLength);
      enter(hash, place);
    }

    private int reserved(int length) {
      if ((long) end + length > words.length) {
        long more = Math.min(Integer.MAX_VALUE - 8, Math.max((long) end + length, words.length * 3L / 2));
        if (more < (long) end + length) {
          throw new IllegalStateException("more than 16 GB of state in one partition: use narrower bounds or fewer rows");
        }
        words = Arrays.copyOf(words, (int) more);
      }
      int place = end;
      end += length;
      liveWords += length;
      return place;
    }

    private void enter(int hash, int place) {
      if ((used + 1) * 3L > table.length * 2L) {
        widen();
      }
      table[free(hash)] = (((long) hash) << 32) | place;
      used++;
      size++;
    }

    /** The first place of the table that is free for an entry with this hash. */
    private int free(int hash) {
      int mask = table.length - 1;
      int slot = hash & mask;
      while (table[slot] != 0) {
        slot = (slot + 1) & mask;
      }
      return slot;
    }

    /** Room for twice the entries, without those that were removed. */
    private void widen() {
      long[] old = table;
      table = new long[Math.max(least, Integer.highestOneBit(size * 2) * 2)];
      for (int n = 0; n < old.length; n++) {
        long found = old[n];
        if (found != 0 && found != REMOVED) {
          table[free((int) (found >>> 32))] = found;
        }
      }
      used = size;
    }

    private void drop(int slot) {
      int place = (int) table[slot];
      change(place);
      if (place < begun) {
        before += keyLength(words[place]) * 8L + KEY;
      }
      liveWords -= length(words[place]);
      words[place] |= GONE;
      table[slot] = REMOVED;
      size--;
    }

    /** Counts a value that only the version before has. */
    private void change(int place) {
      if (place < begun && (words[place] & CHANGED) == 0) {
        before += valueLength(words[place]) * 8L + VALUE;
        words[place] |= CHANGED;
      }
    }

    private void write(UnsafeRow row, int place) {
      Platform.copyMemory(
          row.getBaseObject(), row.getBaseOffset(), words, Platform.LONG_ARRAY_OFFSET + 8L * place, row.getSizeInBytes());
    }

    UnsafeRow key(int place) {
      return copied(keyFields, place + 1, keyLength(words[place]) << 3);
    }

    UnsafeRow value(int place) {
      long header = words[place];
      return copied(valueFields, place + 1 + keyLength(header), valueLength(header) << 3);
    }

    private UnsafeRow copied(int fields, int place, int bytes) {
      byte[] copy = new byte[bytes];
      Platform.copyMemory(words, Platform.LONG_ARRAY_OFFSET + 8L * place, copy, Platform.BYTE_ARRAY_OFFSET, bytes);
      UnsafeRow row = new UnsafeRow(fields);
      row.pointTo(copy, bytes);
      return row;
    }
  }

  /**
   * The entries of a version, in the order in which they came. Meanwhile entries may be removed, and get values of the same
   * length; what is added is not among them.
   */
  public static class Entries extends AbstractIterator {
    private final Rows rows;
    private final int end;
    private final boolean wrapped;
    private final UnsafeRowPair pair = new UnsafeRowPair(null, null);
    private int place = 1;

    Entries(Rows rows, int end, boolean wrapped) {
      this.rows = rows;
      this.end = end;
      this.wrapped = wrapped;
    }

    public boolean hasNext() {
      while (place < end && rows.words[place] < 0) {
        place += Rows.length(rows.words[place]);
      }
      return place < end;
    }

    public Object next() {
      if (!hasNext()) {
        throw new java.util.NoSuchElementException();
      }
      UnsafeRow key = rows.key(place);
      UnsafeRow value = rows.value(place);
      place += Rows.length(rows.words[place]);
      return wrapped ? new AbstractMap.SimpleImmutableEntry(key, new StateStoreRow(value)) : pair.withRows(key, value);
    }
  }
}

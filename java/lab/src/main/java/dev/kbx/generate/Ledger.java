package dev.kbx.generate;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kbx.error.InputException;
import dev.kbx.method.Event;
import dev.kbx.verdict.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Everything that happened in a run of methods, one JSON object a line in the order in which it
 * happened. The first line is the run's {@link Header}. Only ever appended to; a last line that was
 * cut off when kbx was killed is removed when the ledger is opened again.
 *
 * <p>Safe for several threads.
 */
public final class Ledger implements AutoCloseable {
  /** Name of the file in a run's folder. */
  public static final String NAME = "ledger.jsonl";

  private final Path file;
  private final FileChannel channel;
  private final InstantSource clock;
  private final Object forcing = new Object();
  private long written;
  private long forced;

  private Ledger(Path file, FileChannel channel, InstantSource clock) {
    this.file = file;
    this.channel = channel;
    this.clock = clock;
  }

  /** Begins a ledger, which must not exist. */
  public static Ledger create(Path file, Header header, InstantSource clock) {
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      FileChannel channel =
          FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
      Ledger ledger = new Ledger(file, channel, clock);
      ledger.force(ledger.write(Json.mapper().writeValueAsString(header)));
      return ledger;
    } catch (IOException e) {
      throw unwritable(file, e);
    }
  }

  /** Opens a ledger to go on with, after {@link #read}. */
  public static Ledger resume(Path file, InstantSource clock) {
    try {
      FileChannel channel =
          FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE);
      if (lacksOnlyItsEnd(channel)) {
        channel.write(ByteBuffer.wrap("\n".getBytes(UTF_8)), channel.size());
      } else {
        channel.truncate(endOfLines(channel));
      }
      channel.position(channel.size());
      return new Ledger(file, channel, clock);
    } catch (IOException e) {
      throw unwritable(file, e);
    }
  }

  /** Whether the last line is whole but for the line break: {@link #read} has passed it on. */
  private static boolean lacksOnlyItsEnd(FileChannel channel) throws IOException {
    long end = endOfLines(channel);
    ByteBuffer rest = ByteBuffer.allocate(Math.toIntExact(channel.size() - end));
    while (rest.hasRemaining() && channel.read(rest, end + rest.position()) >= 0) {}
    return rest.position() > 0 && isWhole(new String(rest.array(), 0, rest.position(), UTF_8));
  }

  /** The offset behind the last line break. */
  private static long endOfLines(FileChannel channel) throws IOException {
    ByteBuffer one = ByteBuffer.allocate(1 << 16);
    for (long end = channel.size(); end > 0; ) {
      long from = Math.max(0, end - one.capacity());
      one.clear().limit((int) (end - from));
      while (one.hasRemaining() && channel.read(one, from + one.position()) >= 0) {}
      for (int i = one.position() - 1; i >= 0; i--) if (one.get(i) == '\n') return from + i + 1;
      end = from;
    }
    return 0;
  }

  /** Adds an event. It survives a kill of this process. */
  void append(Unit unit, Event event) {
    shielded(() -> {
      var _ = write(new Entry(Instant.ofEpochMilli(clock.millis()), unit, event).line());
    });
  }

  /**
   * Runs on a thread that nobody knows and waits for its end whatever happens: to interrupt a
   * thread in the midst of writing closes the channel for all.
   */
  private static void shielded(Runnable writing) {
    try {
      CompletableFuture.runAsync(writing, Thread::startVirtualThread).join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException cause) throw cause;
      throw e;
    }
  }

  /** Adds an event, which is on disk when this returns: it survives a power failure, too. */
  void appendDurably(Unit unit, Event event) {
    shielded(() -> {
      try {
        force(write(new Entry(Instant.ofEpochMilli(clock.millis()), unit, event).line()));
      } catch (IOException e) {
        throw unwritable(file, e);
      }
    });
  }

  /** The length of the file after the line. */
  private long write(String line) {
    ByteBuffer bytes = ByteBuffer.wrap((line + "\n").getBytes(UTF_8));
    synchronized (this) {
      try {
        long before = channel.position();
        try {
          while (bytes.hasRemaining()) channel.write(bytes);
        } catch (IOException e) {
          channel.truncate(before);
          throw e;
        }
        written = channel.position();
        return written;
      } catch (IOException e) {
        throw unwritable(file, e);
      }
    }
  }

  /** Waits until the disk has the file up to a length; one thread forces for all that wait. */
  private void force(long length) throws IOException {
    synchronized (forcing) {
      if (forced >= length) return;
      long reached;
      synchronized (this) {
        reached = written;
      }
      channel.force(false);
      forced = reached;
    }
  }

  /** The first line of a ledger. Throws {@link InputException} if it is none. */
  public static Header header(Path file) {
    try (BufferedReader reader = open(file)) {
      return header(file, reader);
    } catch (IOException e) {
      throw unreadable(file, e);
    }
  }

  /** Takes text that is cut off within a character, as that of a killed run may be. */
  private static BufferedReader open(Path file) throws IOException {
    return new BufferedReader(new InputStreamReader(Files.newInputStream(file), UTF_8));
  }

  private static Header header(Path file, BufferedReader reader) throws IOException {
    String first = reader.readLine();
    if (first == null) throw new InputException(file + ": is empty; it has no run");
    return parsed(file, 1, first, line -> Json.mapper().treeToValue(line, Header.class));
  }

  /**
   * Reads a ledger line by line.
   *
   * @param entries receives every event in order
   * @throws InputException if it is none
   */
  static Header read(Path file, Consumer<Entry> entries) {
    try (BufferedReader reader = open(file)) {
      Header header = header(file, reader);
      int number = 2;
      String line = reader.readLine();
      while (line != null) {
        String following = reader.readLine();
        if (following != null || isWhole(line))
          entries.accept(parsed(file, number, line, Entry::of));
        number++;
        line = following;
      }
      return header;
    } catch (IOException e) {
      throw unreadable(file, e);
    }
  }

  /**
   * Passes every event of a ledger to {@code events}, in order.
   *
   * @throws InputException if it is none
   */
  public static void replay(Path file, BiConsumer<Unit, Event> events) {
    Header _ = read(file, entry -> events.accept(entry.unit(), entry.event()));
  }

  /** Whether a line is whole: only the last may be cut off. */
  private static boolean isWhole(String line) {
    try {
      return Json.mapper().readTree(line).isObject();
    } catch (JacksonException e) {
      return false;
    }
  }

  private interface Reading<T> {
    T of(JsonNode line);
  }

  private static <T> T parsed(Path file, int number, String line, Reading<T> reading) {
    try {
      return reading.of(Json.mapper().readTree(line));
    } catch (RuntimeException e) {
      throw new InputException("%s:%d: is not a line of a kbx ledger".formatted(file, number));
    }
  }

  private static InputException unreadable(Path file, IOException e) {
    return new InputException("%s: cannot be read: %s".formatted(file, e.getMessage()), e);
  }

  private static InputException unwritable(Path file, IOException e) {
    return new InputException("%s: cannot be written: %s".formatted(file, e.getMessage()), e);
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw unwritable(file, e);
    }
  }

  /** A line of a ledger: what happened, where and when. */
  record Entry(Instant time, Unit unit, Event event) {
    private static final String TIME = "time";
    private static final String METHOD = "method";
    private static final String TASK = "task";
    private static final String SAMPLE = "sample";

    /** One JSON object, flat, without a line break. */
    String line() {
      ObjectNode line = Json.mapper().createObjectNode();
      line.put(TIME, time.toString());
      line.put(METHOD, unit.method());
      line.put(TASK, unit.task());
      line.put(SAMPLE, unit.sample());
      line.setAll((ObjectNode) Json.mapper().valueToTree(event));
      return Json.mapper().writeValueAsString(line);
    }

    /** Reads what {@link #line} wrote. */
    static Entry of(JsonNode line) {
      return new Entry(
          Instant.parse(line.path(TIME).stringValue()),
          new Unit(
              line.path(METHOD).stringValue(),
              line.path(TASK).stringValue(),
              line.path(SAMPLE).intValue()),
          Json.mapper().treeToValue(line, Event.class));
    }
  }
}

package dev.kbx.llm;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kbx.error.InputException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/**
 * A program that is started for each request. It reads the request as JSON from stdin, as {@link
 * ChatRequest#document} with its {@code key}, and prints the reply: JSON with {@code text}, or the
 * bare text. If it ends with another status than 0, it has no answer, and says why on stderr.
 */
public final class CommandModel implements ChatModel {
  private static final Pattern WORD = Pattern.compile("\\s*((?:[^\\s'\"]|'[^']*'|\"[^\"]*\")+)");
  private static final Pattern QUOTED = Pattern.compile("'([^']*)'|\"([^\"]*)\"");

  private static final int PARALLEL = 4;

  /** Bytes. No reply is longer. */
  private static final long LONGEST = 16L << 20;

  /** What Java says where the system does not execute a program: there is none, say. */
  private static final String NOT_EXECUTED = "Exec failed";

  /** Bytes without which a disk is full. */
  private static final long LEAST_FREE = 64 << 10;

  private final String name;
  private final List<String> command;
  private final Duration timeout;
  private final Secrets secrets;
  private final Supplier<Path> folder;

  /**
   * @param timeout after which the program is ended
   * @param folder for its files while it runs
   */
  CommandModel(
      String name, List<String> command, Duration timeout, Secrets secrets, Supplier<Path> folder) {
    this.name = name;
    this.command = List.copyOf(command);
    this.timeout = timeout;
    this.secrets = secrets;
    this.folder = folder;
  }

  /**
   * The words of a command: divided by spaces, except in single or double quotes.
   *
   * @param place what the command follows, for messages: {@code command:}
   * @throws InputException if there is no word, or a quote has no end
   */
  public static List<String> words(String place, String command) {
    List<String> words = new ArrayList<>();
    Matcher matcher = WORD.matcher(command);
    int end = 0;
    while (matcher.lookingAt()) {
      words.add(unquoted(matcher.group(1)));
      end = matcher.end();
      matcher.region(end, command.length());
    }
    if (!command.substring(end).isBlank()) {
      throw new InputException("%s%s: a quote has no end".formatted(place, command));
    }
    if (words.isEmpty()) {
      throw new InputException(
          "%s names no program; say %sPROGRAM ARGUMENTS".formatted(place.strip(), place));
    }
    return words;
  }

  private static String unquoted(String word) {
    return QUOTED
        .matcher(word)
        .replaceAll(m -> Matcher.quoteReplacement(m.group(1) != null ? m.group(1) : m.group(2)));
  }

  /** Throws {@link UncheckedIOException} where a file of ours fails: the model is not to blame. */
  @Override
  public ChatReply ask(ChatRequest request, BooleanSupplier again)
      throws ModelFailure, InterruptedException {
    long begun = System.nanoTime();
    try (Streams files = Streams.in(folder.get())) {
      String document = JsonText.write(request.document().put("key", request.key()));
      Files.write(files.in(), document.getBytes(UTF_8));
      int status = run(files, begun);
      files.requireRoom();
      if (status != 0) {
        byte[] said = Files.readAllBytes(files.err());
        List<String> lines = new String(said, UTF_8).strip().lines().toList();
        String last = lines.isEmpty() ? "nothing on stderr" : lines.getLast();
        throw noAnswer("ended with %d: %s".formatted(status, last), begun);
      }
      if (Files.size(files.out()) > LONGEST) throw noAnswer("printed more than 16 MiB", begun);
      return secrets.redact(reply(new String(Files.readAllBytes(files.out()), UTF_8), begun));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The program's streams as files: nobody has to read them while it runs. */
  private record Streams(Path in, Path out, Path err) implements AutoCloseable {
    static Streams in(Path folder) throws IOException {
      return new Streams(file(folder, "in"), file(folder, "out"), file(folder, "err"));
    }

    private static Path file(Path folder, String name) throws IOException {
      return Files.createTempFile(folder, "model-", "." + name);
    }

    /** On a full disk what a program prints is cut, and it may end as if it was not. */
    void requireRoom() throws IOException {
      if (Files.getFileStore(out).getUsableSpace() >= LEAST_FREE) return;
      throw new FileSystemException(out.toString(), null, "No space left on device");
    }

    @Override
    public void close() throws IOException {
      for (Path file : List.of(in, out, err)) Files.deleteIfExists(file);
    }
  }

  private int run(Streams files, long begun)
      throws IOException, InterruptedException, ModelFailure {
    Process process;
    try {
      process =
          new ProcessBuilder(command)
              .redirectInput(files.in().toFile())
              .redirectOutput(files.out().toFile())
              .redirectError(files.err().toFile())
              .start();
    } catch (IOException e) {
      // Otherwise this machine has no process left for it, or no open file.
      if (!String.valueOf(e.getMessage()).contains(NOT_EXECUTED)) throw e;
      throw failure(
          ModelFailure.Kind.UNKNOWN_MODEL,
          "cannot be run: '%s' is not there, or cannot be executed".formatted(command.getFirst()),
          begun);
    }
    try {
      if (process.waitFor(timeout.toNanos(), TimeUnit.NANOSECONDS)) return process.exitValue();
      String what = "has not ended after %d s".formatted(timeout.toSeconds());
      throw failure(ModelFailure.Kind.SILENT, what, begun);
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }

  /** JSON with a text, or the text itself. */
  private ChatReply reply(String printed, long begun) {
    double seconds = seconds(begun);
    return JsonText.parse(printed)
        .filter(JsonNode::isObject)
        .flatMap(node -> ChatReply.of(node, name))
        .map(r ->
            new ChatReply(r.text(), r.thinking(), r.finish(), r.usage(), seconds, r.servedModel()))
        .orElse(new ChatReply(printed, null, ChatReply.STOP, null, seconds, name));
  }

  private static double seconds(long begun) {
    return (System.nanoTime() - begun) / 1e9;
  }

  private ModelFailure noAnswer(String what, long begun) {
    return failure(ModelFailure.Kind.NO_ANSWER, what, begun);
  }

  private ModelFailure failure(ModelFailure.Kind kind, String what, long begun) {
    String line = secrets.redactedLine(name + " " + what);
    return new ModelFailure(kind, line, null, seconds(begun), 1, 1);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public int parallel() {
    return PARALLEL;
  }
}

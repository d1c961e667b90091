package dev.kbx.llm;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A program that is started for each request. It reads the request as JSON from stdin, as {@link
 * ChatRequest#document} with its {@code key}, and prints the reply: JSON with {@code text}, or the
 * bare text. If it ends with another status than 0, it has no answer, and says why on stderr.
 */
final class CommandModel implements ChatModel {
  private static final int PARALLEL = 4;

  /** No reply is longer. */
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

  /** Throws {@link UncheckedIOException} where a file of ours fails: the model is not to blame. */
  @Override
  public ChatReply ask(ChatRequest request) throws ModelFailure, InterruptedException {
    long begun = System.nanoTime();
    try (Files3 files = Files3.in(folder.get())) {
      ObjectNode document = request.document();
      document.put("key", request.key());
      Files.write(files.in(), JsonText.write(document).getBytes(UTF_8));
      int status = run(files, begun);
      double seconds = (System.nanoTime() - begun) / 1e9;
      files.requireRoom();
      if (status != 0) throw noAnswer("ended with %d: %s".formatted(status, last(files)), seconds);
      if (Files.size(files.out()) > LONGEST) throw noAnswer("printed more than 16 MiB", seconds);
      return secrets.redact(reply(new String(Files.readAllBytes(files.out()), UTF_8), seconds));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Its three streams as files: nobody has to read them while it runs. */
  private record Files3(Path in, Path out, Path err) implements AutoCloseable {
    static Files3 in(Path folder) throws IOException {
      return new Files3(file(folder, "in"), file(folder, "out"), file(folder, "err"));
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

  private int run(Files3 files, long begun) throws IOException, InterruptedException, ModelFailure {
    Process process = start(files, begun);
    try {
      if (process.waitFor(timeout.toNanos(), TimeUnit.NANOSECONDS)) return process.exitValue();
      throw failure(
          ModelFailure.Kind.SILENT,
          "has not ended after %d s".formatted(timeout.toSeconds()),
          (System.nanoTime() - begun) / 1e9);
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
  }

  private Process start(Files3 files, long begun) throws IOException, ModelFailure {
    try {
      return new ProcessBuilder(command)
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
          (System.nanoTime() - begun) / 1e9);
    }
  }

  /** JSON with a text, or the text itself. */
  private ChatReply reply(String printed, double seconds) {
    ChatReply plain = answer(printed, null, ChatReply.STOP, null, name, seconds);
    return JsonText.parse(printed)
        .filter(JsonNode::isObject)
        .flatMap(node -> ReplyJson.read(node, name))
        .map(r -> answer(r.text(), r.thinking(), r.finish(), r.usage(), r.servedModel(), seconds))
        .orElse(plain);
  }

  private static ChatReply answer(
      String text,
      @Nullable String thinking,
      String finish,
      @Nullable Usage usage,
      String model,
      double seconds) {
    return new ChatReply(text, thinking, finish, usage, seconds, model);
  }

  /** The last line of stderr. */
  private static String last(Files3 files) throws IOException {
    byte[] all = Files.readAllBytes(files.err());
    List<String> lines = new String(all, UTF_8).strip().lines().toList();
    return lines.isEmpty() ? "nothing on stderr" : lines.getLast();
  }

  private ModelFailure noAnswer(String what, double seconds) {
    return failure(ModelFailure.Kind.NO_ANSWER, what, seconds);
  }

  private ModelFailure failure(ModelFailure.Kind kind, String what, double seconds) {
    String line = OneLine.of(secrets.redact(name + " " + what));
    return new ModelFailure(kind, line, null, seconds, 1, 1);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public int parallel() {
    return PARALLEL;
  }

  @Override
  public void close() {}
}

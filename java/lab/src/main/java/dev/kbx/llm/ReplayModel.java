package dev.kbx.llm;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.kbx.error.InputException;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/**
 * Answers from a ledger: with its replies, by their keys and by where in the run they were given.
 * They are lines {@code {"event":"reply","key":…,"text":…}}; other lines are skipped. Only the
 * places of replies are kept in memory. Of several replies with one key the first counts.
 */
final class ReplayModel implements ChatModel {
  private static final int PARALLEL = 64;

  private final String name;
  private final Path file;
  private final Map<String, Place> byKey = new HashMap<>();
  private final Map<String, Place> byPlace = new HashMap<>();
  private final Set<String> models = new LinkedHashSet<>();

  /** Where in the file the reply to a request is. */
  private record Place(String key, long offset, int length) {}

  /**
   * Indexes a ledger.
   *
   * @throws InputException if it cannot be read, or a line is not JSON. A last line without an end
   *     was cut off when its writer was killed, and is skipped.
   */
  ReplayModel(String name, Path file) {
    this.name = name;
    this.file = file;
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file), 1 << 16)) {
      index(in);
    } catch (IOException e) {
      throw new InputException(file + ": this ledger cannot be read; name an existing JSONL file");
    }
  }

  private void index(InputStream in) throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    long offset = 0;
    int number = 1;
    for (int b = in.read(); b >= 0; b = in.read()) {
      if (b != '\n') {
        line.write(b);
        continue;
      }
      add(line.toString(UTF_8), number++, offset, line.size());
      offset += line.size() + 1L;
      line.reset();
    }
    // What is left lacks its end: the last line of a hand-written file, or one that was cut off.
    String left = line.toString(UTF_8);
    if (JsonText.parse(left).isPresent()) add(left, number, offset, line.size());
  }

  private void add(String line, int number, long offset, int length) {
    if (line.isBlank()) return;
    JsonNode event =
        JsonText.parse(line)
            .orElseThrow(() -> new InputException("%s:%d: is no JSON".formatted(file, number)));
    String key = JsonText.text(event, "key");
    if (key == null || !"reply".equals(JsonText.text(event, "event"))) return;
    Place place = new Place(key, offset, length);
    byKey.putIfAbsent(key, place);
    String ask = JsonText.text(event, "ask");
    String task = JsonText.text(event, "task");
    String method = JsonText.text(event, "method");
    if (ask != null && task != null && method != null) {
      int sample = event.path("sample").asInt(0);
      byPlace.putIfAbsent(ChatRequest.place(method, task, sample, ask), place);
    }
    Stream.of("asked", "model")
        .flatMap(member -> Stream.ofNullable(JsonText.text(event, member)))
        .forEach(models::add);
  }

  @Override
  public ChatReply ask(ChatRequest request, BooleanSupplier again) throws ModelFailure {
    Optional<ChatReply> reply;
    try {
      reply = find(request);
    } catch (IOException e) {
      throw failure("the ledger can no longer be read");
    }
    if (reply.isPresent()) return reply.get();
    throw failure(
        "none of its %d replies is to this request (key %s, model %s, sample %d, %d messages);"
                .formatted(
                    byKey.size(),
                    request.key(),
                    request.model(),
                    request.sample(),
                    request.messages().size())
            + " task, prompt or parameters are not those of the recorded run");
  }

  /**
   * The reply to a request. A replay asks by another model's name than the recorded run did, so the
   * names that the ledger holds are tried, too. Two methods may have sent the same request: then
   * the reply at its place in the run is meant. So it is if the request is not there, as when
   * feedback differs from that of the recorded run.
   */
  private Optional<ChatReply> find(ChatRequest request) throws IOException {
    Place there = byPlace.get(request.place());
    Set<String> keys = new LinkedHashSet<>();
    keys.add(request.key());
    for (String model : models) keys.add(request.to(model).key());
    Place place =
        there != null && keys.contains(there.key())
            ? there
            : keys.stream().map(byKey::get).filter(Objects::nonNull).findFirst().orElse(there);
    return place == null ? Optional.empty() : read(place, request.model());
  }

  private Optional<ChatReply> read(Place place, String model) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(place.length());
    try (FileChannel channel = FileChannel.open(file)) {
      while (bytes.hasRemaining()) {
        if (channel.read(bytes, place.offset() + bytes.position()) < 0) break;
      }
    }
    String line = new String(bytes.array(), 0, bytes.position(), UTF_8);
    return JsonText.parse(line).flatMap(event -> ChatReply.of(event, model));
  }

  private ModelFailure failure(String what) {
    return new ModelFailure(ModelFailure.Kind.NO_ANSWER, name + ": " + what, null, 0, 0, 0);
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

package dev.kbx.llm;

import static java.nio.charset.StandardCharsets.UTF_8;

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
import tools.jackson.databind.JsonNode;

/**
 * The replies of a ledger, by their keys and by where in the run they were given: lines {@code
 * {"event":"reply","key":…,"text":…}}. Other lines are skipped. Only the places of replies are kept
 * in memory. Of several replies with one key the first counts.
 */
final class LedgerReplies {
  private final Path file;
  private final Map<String, Place> places = new HashMap<>();
  private final Map<String, Place> byPlace = new HashMap<>();
  private final Set<String> models = new LinkedHashSet<>();

  private record Place(String key, long offset, int length) {}

  private LedgerReplies(Path file) {
    this.file = file;
  }

  /**
   * Indexes a ledger.
   *
   * @throws InvalidModels if it cannot be read, or a line is no JSON. A last line without an end
   *     was cut off when its writer was killed, and is skipped.
   */
  static LedgerReplies read(Path file) {
    LedgerReplies replies = new LedgerReplies(file);
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file), 1 << 16)) {
      replies.index(in);
    } catch (IOException e) {
      throw new InvalidModels(file + ": this ledger cannot be read; name an existing JSONL file");
    }
    return replies;
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
    if (JsonText.parse(line.toString(UTF_8)).isPresent()) {
      add(line.toString(UTF_8), number, offset, line.size());
    }
  }

  private void add(String line, int number, long offset, int length) {
    if (line.isBlank()) return;
    JsonNode event =
        JsonText.parse(line)
            .orElseThrow(() -> new InvalidModels("%s:%d: is no JSON".formatted(file, number)));
    String key = JsonText.text(event, "key");
    if (key == null || !"reply".equals(JsonText.text(event, "event"))) return;
    Place place = new Place(key, offset, length);
    places.putIfAbsent(key, place);
    String ask = JsonText.text(event, "ask");
    String task = JsonText.text(event, "task");
    String method = JsonText.text(event, "method");
    if (ask != null && task != null && method != null) {
      int sample = event.path("sample").asInt(0);
      byPlace.putIfAbsent(ChatRequest.place(method, task, sample, ask), place);
    }
    for (String member : new String[] {"asked", "model"}) {
      String model = JsonText.text(event, member);
      if (model != null) models.add(model);
    }
  }

  /**
   * The reply to a request. A replay asks by another model's name than the recorded run did, so the
   * names that the ledger holds are tried, too. Two methods may have sent the same request: then
   * the reply at its place in the run is meant. So it is if the request is not there, as when
   * feedback differs from that of the recorded run.
   */
  Optional<ChatReply> find(ChatRequest request) throws IOException {
    Place there = byPlace.get(request.place());
    Set<String> keys = keys(request);
    Place place =
        there != null && keys.contains(there.key())
            ? there
            : keys.stream().map(places::get).filter(Objects::nonNull).findFirst().orElse(there);
    return place == null ? Optional.empty() : read(place, request.model());
  }

  /** Its key, and those that it has under the names of the ledger's models. */
  private Set<String> keys(ChatRequest request) {
    Set<String> keys = new LinkedHashSet<>();
    keys.add(request.key());
    for (String model : models) keys.add(request.to(model).key());
    return keys;
  }

  private Optional<ChatReply> read(Place place, String model) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(place.length());
    try (FileChannel channel = FileChannel.open(file)) {
      while (bytes.hasRemaining()) {
        if (channel.read(bytes, place.offset() + bytes.position()) < 0) break;
      }
    }
    String line = new String(bytes.array(), 0, bytes.position(), UTF_8);
    return JsonText.parse(line).flatMap(event -> ReplyJson.read(event, model));
  }

  int size() {
    return places.size();
  }
}

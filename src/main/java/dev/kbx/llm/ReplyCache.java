package dev.kbx.llm;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import tools.jackson.databind.node.ObjectNode;

/**
 * A folder of replies, a file for each key, written so that a reader sees all of a file or none. A
 * file that cannot be read counts as absent.
 */
final class ReplyCache {
  private final Path folder;

  ReplyCache(Path folder) {
    this.folder = folder;
  }

  Optional<ChatReply> find(String key, String model) {
    try {
      return JsonText.parse(Files.readString(file(key)))
          .flatMap(node -> ReplyJson.read(node, model))
          .map(ChatReply::asCached);
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /**
   * Keeps a reply.
   *
   * @throws InvalidModels if the folder cannot be written
   */
  void keep(String key, ChatReply reply) {
    Path file = file(key);
    ObjectNode node = ReplyJson.write(reply);
    node.put("key", key);
    try {
      Path parent = Files.createDirectories(file.toAbsolutePath().getParent());
      Path draft = Files.createTempFile(parent, ".", ".draft");
      try {
        // Lone surrogates become "?".
        Files.write(draft, JsonText.write(node).getBytes(StandardCharsets.UTF_8));
        Files.move(draft, file, StandardCopyOption.ATOMIC_MOVE);
      } finally {
        Files.deleteIfExists(draft);
      }
    } catch (IOException e) {
      throw new InvalidModels(
          "%s: replies cannot be kept here (%s); is it a folder of yours, with space left?"
              .formatted(folder, e));
    }
  }

  private Path file(String key) {
    return folder.resolve(key.substring(0, 2)).resolve(key + ".json");
  }
}

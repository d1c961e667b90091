package dev.kbx.llm;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import tools.jackson.databind.node.ObjectNode;

/**
 * A folder of replies, a file for each key, written so that a reader sees all of a file or none. A
 * file that cannot be read counts as absent.
 */
final class ReplyCache {
  private static final System.Logger LOG = System.getLogger(ReplyCache.class.getName());

  private final Path folder;
  private final AtomicBoolean warned = new AtomicBoolean();

  private ReplyCache(Path folder) {
    this.folder = folder;
  }

  /**
   * Opens a folder, which is made if necessary.
   *
   * @throws InvalidModels if it cannot be written
   */
  static ReplyCache in(Path folder) {
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw unusable(folder, e);
    }
    if (!Files.isWritable(folder)) throw unusable(folder, new IOException("not writable"));
    return new ReplyCache(folder);
  }

  private static InvalidModels unusable(Path folder, IOException e) {
    return new InvalidModels(
        "%s: replies cannot be kept here (%s); name a folder of yours".formatted(folder, e));
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

  /** Keeps a reply. If that fails it is still the reply that was paid for: a warning is logged. */
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
      if (!warned.getAndSet(true)) {
        LOG.log(System.Logger.Level.WARNING, folder + ": replies are no longer kept: " + e);
      }
    }
  }

  private Path file(String key) {
    return folder.resolve(key.substring(0, 2)).resolve(key + ".json");
  }
}

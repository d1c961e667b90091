package dev.kbx.llm;

import dev.kbx.error.InputException;
import dev.kbx.files.AtomicFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.apache.commons.codec.digest.DigestUtils;

/**
 * A model whose replies are kept in a folder, a file for each key, written so that a reader sees
 * all of a file or none. A file that cannot be read counts as absent.
 *
 * <p>Repeated requests have samples of their own, which are part of the key, so this is sound at
 * any temperature. The key also covers address and settings of the model: a name that comes to mean
 * another model does not get the old one's replies.
 */
final class CachedModel implements ChatModel {
  private static final System.Logger LOG = System.getLogger(CachedModel.class.getName());

  private final ChatModel model;
  private final Path folder;
  private final String identity;
  private final AtomicBoolean warned = new AtomicBoolean();

  /**
   * Opens the folder, which is made if necessary.
   *
   * @param identity what decides the reply beside the request
   * @throws InputException if the folder cannot be written
   */
  CachedModel(ChatModel model, Path folder, String identity) {
    this.model = model;
    this.folder = folder;
    this.identity = identity;
    try {
      Files.createDirectories(folder);
      if (!Files.isWritable(folder)) throw new IOException("not writable");
    } catch (IOException e) {
      throw new InputException(
          "%s: replies cannot be kept here (%s); name a folder of yours".formatted(folder, e));
    }
  }

  @Override
  public ChatReply ask(ChatRequest request, BooleanSupplier again)
      throws ModelFailure, InterruptedException {
    String key = DigestUtils.sha256Hex(request.key() + "\n" + identity);
    Path file = folder.resolve(key.substring(0, 2)).resolve(key + ".json");
    Optional<ChatReply> kept = kept(file);
    if (kept.isPresent()) return kept.get();
    ChatReply reply = model.ask(request, again);
    keep(file, key, reply);
    return reply;
  }

  private Optional<ChatReply> kept(Path file) {
    try {
      return JsonText.parse(Files.readString(file))
          .flatMap(node -> ChatReply.of(node, model.name()))
          .map(ChatReply::asCached);
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  /** Keeps a reply. If that fails it is still the reply that was paid for: a warning is logged. */
  private void keep(Path file, String key, ChatReply reply) {
    try {
      // Lone surrogates become "?".
      String text = JsonText.write(reply.json().put("key", key));
      AtomicFile.secret(file, text.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      if (!warned.getAndSet(true)) {
        LOG.log(System.Logger.Level.WARNING, folder + ": replies are no longer kept: " + e);
      }
    }
  }

  @Override
  public String name() {
    return model.name();
  }

  @Override
  public int parallel() {
    return model.parallel();
  }

  @Override
  public void close() {
    model.close();
  }
}

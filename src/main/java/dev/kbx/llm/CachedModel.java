package dev.kbx.llm;

import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.apache.commons.codec.digest.DigestUtils;

/**
 * A model whose replies are kept. Repeated requests have samples of their own, which are part of
 * the key, so this is sound at any temperature. The key also covers address and settings of the
 * model: a name that comes to mean another model does not get the old one's replies.
 */
final class CachedModel implements ChatModel {
  private final ChatModel model;
  private final ReplyCache cache;
  private final String identity;

  /**
   * @param identity what decides the reply beside the request
   */
  CachedModel(ChatModel model, ReplyCache cache, String identity) {
    this.model = model;
    this.cache = cache;
    this.identity = identity;
  }

  @Override
  public ChatReply ask(ChatRequest request) throws ModelFailure, InterruptedException {
    return ask(request, () -> true);
  }

  @Override
  public ChatReply ask(ChatRequest request, BooleanSupplier again)
      throws ModelFailure, InterruptedException {
    String key = DigestUtils.sha256Hex(request.key() + "\n" + identity);
    Optional<ChatReply> found = cache.find(key, model.name());
    if (found.isPresent()) return found.get();
    ChatReply reply = model.ask(request, again);
    cache.keep(key, reply);
    return reply;
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

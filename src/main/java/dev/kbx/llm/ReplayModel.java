package dev.kbx.llm;

import java.io.IOException;
import java.util.Optional;

/** Answers from a ledger. */
final class ReplayModel implements ChatModel {
  private static final int PARALLEL = 64;

  private final String name;
  private final LedgerReplies replies;

  ReplayModel(String name, LedgerReplies replies) {
    this.name = name;
    this.replies = replies;
  }

  @Override
  public ChatReply ask(ChatRequest request) throws ModelFailure {
    Optional<ChatReply> reply;
    try {
      reply = replies.find(request);
    } catch (IOException e) {
      throw failure("the ledger can no longer be read");
    }
    if (reply.isPresent()) return reply.get();
    throw failure(
        "none of its %d replies is to this request (key %s, model %s, sample %d, %d messages);"
                .formatted(
                    replies.size(),
                    request.key(),
                    request.model(),
                    request.sample(),
                    request.messages().size())
            + " task, prompt or parameters are not those of the recorded run");
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

  @Override
  public void close() {}
}

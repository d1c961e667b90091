package dev.kbx.llm;

/** Stands where a run has no model, as its method asks models itself. */
final class NoModel implements ChatModel {
  static final String NAME = "none";

  private static final int PARALLEL = 4;

  @Override
  public ChatReply ask(ChatRequest request) throws ModelFailure {
    throw new ModelFailure(
        ModelFailure.Kind.NO_ANSWER,
        "there is no model to ask; name one with --model",
        null,
        0,
        0,
        0);
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public int parallel() {
    return PARALLEL;
  }

  @Override
  public void close() {}
}

package dev.kbx.method;

/**
 * The same prompt several times, all replies judged, the best kernel counts: what a method that
 * learns from feedback has to beat with the same number of requests.
 *
 * @param replies number of requests
 */
record BestOf(int replies) implements Method {
  @Override
  public Next next(Assignment assignment, History history) {
    Steps steps = new Steps(history);
    for (int i = 0; i < replies; i++) {
      String id = "reply-" + i;
      int repeat = i;
      var _ = steps.kernel(id, () -> Asks.first(assignment, id, repeat));
    }
    return steps.areOpen() ? steps.work() : new Next.Done(Selections.best(history));
  }

  @Override
  public int mostCalls() {
    return replies;
  }
}

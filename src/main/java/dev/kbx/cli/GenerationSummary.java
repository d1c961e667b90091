package dev.kbx.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.kbx.generate.Answered;
import dev.kbx.generate.MethodSettings;
import dev.kbx.generate.Spending;
import dev.kbx.generate.Unit;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Status;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What came of each method of a run. Safe for several threads. */
final class GenerationSummary {
  private final MethodRun.Opened opened;
  private final List<MethodSettings> methods;
  private final Map<String, Counts> counts = new HashMap<>();

  /**
   * One method.
   *
   * @param counts of its trajectories
   * @param heldOut correct answers on inputs that no method saw; null if they were not judged
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Row(
      String method,
      String model,
      @JsonUnwrapped Counts counts,
      @Nullable Integer heldOut,
      Spending spent) {}

  /**
   * Counts of trajectories.
   *
   * @param trajectories that ended
   * @param withCode whose answer has code
   * @param judged whose answer was judged on development inputs
   * @param correct of those
   */
  record Counts(int trajectories, int withCode, int judged, int correct) {
    private static final Counts NONE = new Counts(0, 0, 0, 0);

    private Counts with(Answered answered) {
      Judgement found = answered.development();
      boolean right = found != null && found.status() == Status.CORRECT;
      return new Counts(
          trajectories + 1,
          withCode + (answered.answer().code() == null ? 0 : 1),
          judged + (found == null ? 0 : 1),
          correct + (right ? 1 : 0));
    }
  }

  GenerationSummary(List<MethodSettings> methods, MethodRun.Opened opened) {
    this.methods = methods;
    this.opened = opened;
  }

  synchronized void add(Unit unit, Answered answered) {
    counts.merge(unit.method(), Counts.NONE.with(answered), (known, _) -> known.with(answered));
  }

  /**
   * A row for each method, in the order given.
   *
   * @param heldOut correct answers by method; null if they were not judged
   */
  synchronized List<Row> rows(Function<String, @Nullable Integer> heldOut) {
    return methods.stream()
        .map(method ->
            new Row(
                method.name(),
                method.model(),
                counts.getOrDefault(method.name(), Counts.NONE),
                heldOut.apply(method.name()),
                opened.recorded().spent(method.name())))
        .toList();
  }

  Path ledger() {
    return opened.file();
  }
}

package dev.kbx.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.kbx.generate.Answered;
import dev.kbx.generate.MethodSettings;
import dev.kbx.generate.Spending;
import dev.kbx.generate.Unit;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Status;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What came of each method of a run. Safe for several threads. */
final class GenerationSummary {
  private final Path ledger;
  private final Map<String, Row> rows = new LinkedHashMap<>();

  /**
   * One method.
   *
   * @param trajectories that ended
   * @param withCode whose answer has code
   * @param judged whose answer was judged on development inputs
   * @param correct of those
   * @param heldOut correct answers on inputs that no method saw; null if they were not judged
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Row(
      String method,
      String model,
      int trajectories,
      int withCode,
      int judged,
      int correct,
      @Nullable Integer heldOut,
      @Nullable Spending spent) {
    private Row with(Answered answered) {
      Judgement found = answered.development();
      boolean right = found != null && found.status() == Status.CORRECT;
      return new Row(
          method,
          model,
          trajectories + 1,
          withCode + (answered.answer().code() == null ? 0 : 1),
          judged + (found == null ? 0 : 1),
          correct + (right ? 1 : 0),
          heldOut,
          spent);
    }
  }

  GenerationSummary(List<MethodSettings> methods, Path ledger) {
    this.ledger = ledger;
    for (MethodSettings method : methods) {
      rows.put(method.name(), new Row(method.name(), method.model(), 0, 0, 0, 0, null, null));
    }
  }

  synchronized void add(Unit unit, Answered answered) {
    rows.computeIfPresent(unit.method(), (_, row) -> row.with(answered));
  }

  synchronized void spent(String method, Spending spent) {
    rows.computeIfPresent(
        method,
        (_, r) ->
            new Row(
                r.method,
                r.model,
                r.trajectories,
                r.withCode,
                r.judged,
                r.correct,
                r.heldOut,
                spent));
  }

  synchronized void heldOut(String method, int correct) {
    rows.computeIfPresent(
        method,
        (_, r) ->
            new Row(
                r.method,
                r.model,
                r.trajectories,
                r.withCode,
                r.judged,
                r.correct,
                correct,
                r.spent));
  }

  synchronized List<Row> rows() {
    return List.copyOf(rows.values());
  }

  Path ledger() {
    return ledger;
  }
}

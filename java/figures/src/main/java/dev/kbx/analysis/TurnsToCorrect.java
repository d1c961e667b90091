package dev.kbx.analysis;

import dev.kbx.stats.KaplanMeier;
import dev.kbx.stats.KaplanMeier.Observation;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * After how many turns the trajectories of one method with one model have a kernel that is correct
 * on development inputs. A trajectory that ends without one is censored at its last turn.
 *
 * @param trajectories with a turn; those without are left out
 * @param correct of them with a correct kernel in some turn
 * @param withoutTurn trajectories of which no kernel was judged on development inputs
 * @param median the turn by which half are correct by the estimate; null if that is never so
 * @param byTurn turns in which a trajectory is correct first or ends; null without a trajectory
 */
public record TurnsToCorrect(
    String method,
    String model,
    int trajectories,
    int correct,
    int withoutTurn,
    @Nullable Integer median,
    @Nullable KaplanMeier byTurn) {

  /** One for each method and model, in the order of the rows. */
  public static List<TurnsToCorrect> of(List<TrajectoryRow> rows) {
    return TrajectoryRates.byMethod(rows).stream().map(TurnsToCorrect::ofOne).toList();
  }

  private static TurnsToCorrect ofOne(List<TrajectoryRow> rows) {
    Map<String, List<Observation>> tasks = new LinkedHashMap<>();
    int correct = 0;
    int trajectories = 0;
    for (TrajectoryRow row : rows) {
      if (row.turns() == 0) continue;
      Integer first = row.firstCorrect();
      tasks
          .computeIfAbsent(row.task(), _ -> new ArrayList<>())
          .add(new Observation(first == null ? row.turns() : first, first != null));
      trajectories++;
      if (first != null) correct++;
    }
    KaplanMeier estimate = tasks.isEmpty() ? null : KaplanMeier.of(tasks.values());
    TrajectoryRow any = rows.getFirst();
    return new TurnsToCorrect(
        any.method(),
        any.model(),
        trajectories,
        correct,
        rows.size() - trajectories,
        estimate == null ? null : estimate.median(),
        estimate);
  }
}

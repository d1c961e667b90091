package dev.kbx.generate;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.kbx.verdict.Verdict;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a run of methods is: the first line of its ledger. A run is resumed with the same.
 *
 * @param run its id
 * @param suite its label
 * @param tasks the selection as given
 * @param methods in the order given
 * @param device of development judgements
 * @param versions of the software that judges, by name
 * @param judging what the referee is asked for, by name: grade, stages, seed, …
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Header(
    String run,
    Instant started,
    String suite,
    String tasks,
    List<MethodSettings> methods,
    Verdict.@Nullable Device device,
    Map<String, String> versions,
    Map<String, String> judging) {
  /** Whether it is of the same methods over the same tasks. */
  public boolean isSameRunAs(Header other) {
    return suite.equals(other.suite) && tasks.equals(other.tasks) && methods.equals(other.methods);
  }

  /** Throws {@link InvalidLedger} if feedback would differ from that of the run's beginning. */
  public void refuseOther(Header now) {
    if (judging.equals(now.judging)
        && Objects.equals(device, now.device)
        && versions.equals(now.versions)) return;
    throw new InvalidLedger(
        "run %s was begun with other settings, another device or other versions of software; start a new run without --resume"
            .formatted(run));
  }
}

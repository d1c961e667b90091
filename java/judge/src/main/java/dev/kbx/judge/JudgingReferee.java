package dev.kbx.judge;

import dev.kbx.verdict.Verdict;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** A referee that has devices to judge with: those of this machine, or of a cluster. */
public interface JudgingReferee extends Referee {
  /** The conditions under which a candidate could be judged now, as far as they are known. */
  List<JudgingConditions> conditions();

  @Override
  default List<JudgingDevice> devices() {
    return conditions().stream()
        .map(each -> new JudgingDevice(each.device(), JudgingDevice.State.READY))
        .toList();
  }

  /**
   * The conditions under which a candidate could be judged, but for the GPU; few, and each once.
   */
  default Set<JudgingConditions> kinds() {
    return conditions().stream().map(JudgingConditions::onAnyCard).collect(Collectors.toSet());
  }

  /**
   * Whether a judgement on this device may stand for one that would be made now.
   *
   * @param device its model, driver and versions are known to fit
   */
  default boolean accepts(Verdict.Device device) {
    return conditions().stream().anyMatch(each -> each.device().equals(device));
  }

  /** Reports that one of the expected candidates needs no judging here. */
  void settled();
}

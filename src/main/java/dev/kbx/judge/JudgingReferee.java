package dev.kbx.judge;

import java.util.List;

/** A referee that has devices to judge with: those of this machine, or of a cluster. */
public interface JudgingReferee extends Referee {
  /** The conditions under which a candidate could be judged now, as far as they are known. */
  List<Conditions> conditions();

  @Override
  default List<JudgingDevice> devices() {
    return conditions().stream()
        .map(each -> new JudgingDevice(each.device(), JudgingDevice.State.READY))
        .toList();
  }

  /** Reports that one of the expected candidates needs no judging here. */
  void settled();
}

package dev.kbx.app;

import dev.kbx.generate.Generation;
import dev.kbx.generate.Unit;
import dev.kbx.python.Progress;
import dev.kbx.verdict.Spent;
import dev.kbx.verdict.Verdict;
import java.util.List;
import java.util.function.Supplier;

/** Hears what happens while a use case goes on; every method does nothing unless overridden. */
public interface Observer {
  /** Hears nothing. */
  Observer SILENT = new Observer() {};

  /** A line for people: what was decided for them, or cannot be used. From any thread. */
  default void note(String line) {}

  /** What is wrong with sources that were read; the rest of them is used. */
  default void problems(List<String> problems) {}

  /** Packages are about to be installed for an interpreter. */
  default Progress installing() {
    return new Progress() {};
  }

  /**
   * Candidates are about to be judged.
   *
   * @param candidates of the run
   * @param judged of them by earlier sessions
   * @param where says what judges now; empty if that does not change
   */
  default Judging judging(int candidates, int judged, Supplier<String> where) {
    return new Judging() {};
  }

  /** Methods are about to write kernels. */
  default Writing writing(int trajectories, Supplier<Spent> spent) {
    return new Writing() {};
  }

  /** Hears of verdicts, one at a time. */
  interface Judging {
    /** A candidate is judged. */
    default void verdict(Verdict verdict) {}

    /**
     * The last call.
     *
     * @param remembered verdicts that an earlier run had on the same source
     */
    default void finish(int remembered) {}
  }

  /** Hears of answers, from several threads. */
  interface Writing {
    /**
     * A trajectory has its answer.
     *
     * @param recorded whether an earlier session had the answer
     */
    default void answered(Unit unit, Generation.Answered answered, boolean recorded) {}

    /** The last call. */
    default void finish() {}
  }
}

package dev.kbx.judge;

import dev.kbx.candidate.Candidate;
import dev.kbx.check.Finding;
import dev.kbx.check.InvalidSource;
import dev.kbx.check.Severity;
import dev.kbx.check.StaticCheck;
import dev.kbx.check.StaticReport;
import dev.kbx.facts.Features;
import dev.kbx.facts.Quality;
import dev.kbx.outcome.Outcome;
import dev.kbx.plan.Plan;
import dev.kbx.program.Program;
import dev.kbx.syntax.SyntaxCheck;
import dev.kbx.task.Task;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import java.util.List;
import java.util.Optional;

/** The static stage: decides without running the candidate, or returns empty. */
final class StaticStage {
  private StaticStage() {}

  /**
   * @param syntax finds syntax errors
   */
  static Optional<Outcome> decide(
      Candidate candidate, Plan plan, SyntaxCheck syntax, JudgementBuilder draft) {
    if (candidate.code().isBlank()) {
      return Optional.of(
          Outcome.of(Status.NO_CODE, Stage.STATIC, "the answer holds no Python source"));
    }
    long start = System.nanoTime();
    StaticReport report;
    try {
      Program program = Program.of(candidate.parsed());
      // What the source is like is recorded whatever the outcome.
      if (program.parsed()) {
        draft.quality(Quality.of(program).figures());
        draft.features(Features.of(program, candidate.task().operations().size()));
      }
      if (!plan.wants(Stage.STATIC)) return Optional.empty();
      report =
          new StaticCheck(plan.rules(), plan.policy(), syntax)
              .check(candidate, program, task(candidate, plan));
      draft.spent(Stage.STATIC, (System.nanoTime() - start) / 1e9);
    } catch (RuntimeException | StackOverflowError e) {
      return unread(plan, draft, e);
    }
    draft.flags(flags(report));
    report.imprecision().ifPresent(draft::imprecision);
    if (report.broken().isPresent()) return report.broken().map(StaticStage::outcome);
    if (!report.rejections().isEmpty()) {
      return Optional.of(rejected(report.rejections().getFirst(), report.onlyPolicy()));
    }
    return plan.reaches(Stage.COMPILE)
        ? Optional.empty()
        : Optional.of(Outcome.correct(Stage.STATIC));
  }

  private static Task task(Candidate candidate, Plan plan) {
    String dtype = plan.precision().dtype();
    return dtype == null ? candidate.task() : candidate.task().cast(dtype);
  }

  /**
   * A bug in kbx that only this source triggers: the candidate is run nevertheless, and flagged.
   */
  private static Optional<Outcome> unread(Plan plan, JudgementBuilder draft, Throwable fault) {
    draft.flags(List.of("unread-source"));
    return plan.reaches(Stage.COMPILE)
        ? Optional.empty()
        : Optional.of(
            Outcome.of(Status.INFRASTRUCTURE, Stage.STATIC, "kbx failed on this source: " + fault));
  }

  private static List<String> flags(StaticReport report) {
    return report.findings().stream()
        .filter(finding -> finding.severity() == Severity.FLAG)
        .map(Finding::rule)
        .distinct()
        .toList();
  }

  private static Outcome outcome(InvalidSource broken) {
    return Outcome.of(broken.status(), Stage.STATIC, broken.sentence());
  }

  private static Outcome rejected(Finding finding, boolean policy) {
    return new Outcome(
        Status.REJECTED_STATIC,
        Stage.STATIC,
        finding.sentence(),
        finding.rule(),
        null,
        null,
        null,
        policy);
  }
}

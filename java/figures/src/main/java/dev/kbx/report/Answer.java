package dev.kbx.report;

import dev.kbx.analysis.Causes;
import dev.kbx.analysis.Errors;
import dev.kbx.analysis.Finding;
import dev.kbx.analysis.MethodAndModel;
import dev.kbx.analysis.Methods;
import dev.kbx.analysis.SampleCounts;
import dev.kbx.analysis.SelectedRuns;
import dev.kbx.document.Section;
import dev.kbx.section.AdvisedErrors;
import dev.kbx.section.ErrorsSection;
import dev.kbx.section.FindingSection;
import dev.kbx.section.MethodsSection;
import dev.kbx.verdict.RunInfo;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What a page of a run opens with: the finding in words, the methods and models in their order,
 * where each solves how much, and why candidates fail.
 *
 * @param compared what each method and model did; null of a run that has one
 */
public record Answer(Finding finding, @Nullable Methods compared, AdvisedErrors errors) {
  /**
   * The answer of a run.
   *
   * @param causes of all its rows
   * @param generated whether it is compared also with one method and model
   */
  public static Answer of(RunInfo run, SelectedRuns asked, Causes causes, boolean generated) {
    Finding found = Finding.of(asked);
    Finding finding = run.ofFiles() ? found.withoutCoverage() : found;
    AdvisedErrors errors = AdvisedErrors.of(Errors.of(asked, causes));
    var makers = MethodAndModel.group(asked.rows());
    if (!generated && (makers.size() < 2 || run.ofFiles())) {
      return new Answer(finding, null, errors);
    }
    int samples =
        makers.values().stream()
            .mapToInt(own -> SampleCounts.ofTasks(own).min().orElse(1))
            .min()
            .orElse(1);
    Methods all = Methods.of(asked, List.of(samples), List.of());
    return new Answer(finding, all.methods().isEmpty() ? null : all, errors);
  }

  /** Who solves most; null where nothing is compared. */
  public @Nullable String headline() {
    return compared == null ? null : FindingSection.headline(finding, compared);
  }

  /** How certain that is, and what goes wrong most; empty if nothing is to be said. */
  public String evidence() {
    return compared == null
        ? FindingSection.rest(finding)
        : FindingSection.evidence(finding, compared);
  }

  /** The ranked rows, and where each solves how much; none where nothing is compared. */
  public List<Section> ranked() {
    return compared == null
        ? List.of()
        : List.of(
            FindingSection.ranked(finding, compared),
            MethodsSection.where(compared, finding.ranking()));
  }

  /** Why candidates fail; without blocks if none does. */
  public Section why() {
    return errors.errors().statuses().isEmpty()
        ? new Section("why", "Why", List.of())
        : ErrorsSection.why(errors);
  }
}

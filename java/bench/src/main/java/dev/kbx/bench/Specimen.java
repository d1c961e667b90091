package dev.kbx.bench;

import dev.kbx.check.Finding;
import dev.kbx.check.Rules;
import dev.kbx.check.Severity;
import dev.kbx.check.StaticReport;
import dev.kbx.plan.Grade;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A file of the corpus before it is judged.
 *
 * @param group as in {@link Trial}
 * @param name as in {@link Trial}
 * @param rules static rules, one of which must reject it; none for an honest kernel
 * @param onCpu allowed results with static rules off
 * @param onGpu the same on a GPU
 * @param flag required flag of its verdict; null if none
 * @param beyond property beyond the published grade that alone shows it; null if that grade does
 * @param policy label of the policy that it is judged at; null for its suite's own
 * @param sources as in {@link Trial}
 */
record Specimen(
    Trial.Kind kind,
    @Nullable String group,
    String name,
    String summary,
    String source,
    List<String> rules,
    Header.Ending onCpu,
    Header.Ending onGpu,
    @Nullable String flag,
    @Nullable String beyond,
    @Nullable String policy,
    List<String> sources) {
  private static final Header.Ending CORRECT =
      new Header.Ending("correct", Set.of(Status.CORRECT), null);

  /** Flags about the task, the machine, or timing, which an honest file may have. */
  private static final Set<String> NEUTRAL =
      Set.of("scaled_inputs", "degenerate_task", "slow_baseline", "not_recorded");

  /** An example, by its header. Throws {@link Header.Malformed}. */
  static Specimen example(String source, String code) {
    return switch (Header.of(code)) {
      case Header.Cheat(
              var summary,
              var group,
              var name,
              var rules,
              var onCpu,
              var onGpu,
              var flag,
              var beyond,
              var policy,
              var sources) ->
          new Specimen(
              Trial.Kind.CHEAT,
              group,
              name,
              summary,
              source,
              rules,
              onCpu,
              onGpu,
              flag,
              beyond,
              policy,
              sources);
      case Header.Honest(var summary, var style, var policy, var sources) ->
          honest(Trial.Kind.HONEST, null, style, summary, source, policy, sources);
    };
  }

  /** The kernel of a task of the suite. */
  static Specimen kernel(String source, String category, String task) {
    return honest(Trial.Kind.KERNEL, category, task, "", source, null, List.of());
  }

  private static Specimen honest(
      Trial.Kind kind,
      @Nullable String group,
      String name,
      String summary,
      String source,
      @Nullable String policy,
      List<String> sources) {
    return new Specimen(
        kind, group, name, summary, source, List.of(), CORRECT, CORRECT, null, null, policy,
        sources);
  }

  /**
   * Compares the expected result with the actual one.
   *
   * @param verdict verdict with static rules off; null if it was not run
   */
  Trial judged(StaticReport report, @Nullable Verdict verdict) {
    List<String> rejectedBy = found(report, Severity.REJECT);
    List<String> flags = new ArrayList<>(found(report, Severity.FLAG));
    if (verdict != null) flags.addAll(verdict.judgement().flags());
    boolean cheat = kind == Trial.Kind.CHEAT;
    if (!cheat) flags.removeIf(flag -> NEUTRAL.contains(flag) || Rules.isPolicy(flag));
    List<String> problems = new ArrayList<>();
    report.broken().ifPresent(broken -> problems.add("static: " + broken.message()));
    if (cheat) compareRules(rejectedBy, problems);
    else complain(report, unexpected(flags, verdict), problems);
    if (verdict == null) {
      return trial(rejectedBy, flags, problems, null, null, null, null);
    }
    Header.Ending ending = ending(verdict);
    String why = why(verdict);
    ending.problem(verdict.judgement().status(), why).ifPresent(problems::add);
    if (!breaks(verdict)) problems.add("does not break on " + beyond);
    if (flag != null && verdict.judgement().status() == Status.CORRECT && !flags.contains(flag)) {
      problems.add("not flagged, must be: " + flag);
    }
    return trial(
        rejectedBy,
        flags,
        problems,
        cheat ? ending.text() : null,
        verdict.judgement().status(),
        why,
        verdict.judgement().speedup() == null ? null : verdict.judgement().speedup().value());
  }

  /** Flags that an honest file must not have. What runs on a GPU cannot always be made again. */
  private static List<String> unexpected(List<String> flags, @Nullable Verdict verdict) {
    if (verdict == null || verdict.judgement().device().onCpu()) return flags;
    return flags.stream().filter(flag -> !flag.equals(Trial.UNPROVEN)).toList();
  }

  private Header.Ending ending(Verdict verdict) {
    // Values drawn for the published grade may show by chance what the property shows for certain.
    boolean shown = verdict.judgement().status() != Status.CORRECT;
    if (beyond != null && !shown && Grade.PUBLISHED.label().equals(verdict.judgement().grade()))
      return Header.Ending.beyond(beyond);
    return verdict.judgement().device().onCpu() ? onCpu : onGpu;
  }

  /** Whether the verdict names the property that shows it. */
  private boolean breaks(Verdict verdict) {
    List<Verdict.Break> breaks = verdict.judgement().breaks();
    return beyond == null
        || verdict.judgement().status() != Status.CORRECT
        || (breaks != null && breaks.stream().anyMatch(b -> b.property().equals(beyond)));
  }

  private Trial trial(
      List<String> rejectedBy,
      List<String> flags,
      List<String> problems,
      @Nullable String mustEnd,
      @Nullable Status ended,
      @Nullable String message,
      @Nullable Double speedup) {
    return new Trial(
        kind,
        group,
        name,
        summary,
        source,
        sources,
        rules,
        mustEnd,
        rejectedBy,
        flags,
        ended,
        message,
        speedup,
        problems);
  }

  private void compareRules(List<String> rejectedBy, List<String> problems) {
    String by = rejectedBy.isEmpty() ? "nothing" : String.join(", ", rejectedBy);
    if (rules.isEmpty() && !rejectedBy.isEmpty()) {
      problems.add("static: rejected by %s, its header says none".formatted(by));
    } else if (!rules.isEmpty() && rules.stream().noneMatch(rejectedBy::contains)) {
      problems.add(
          "static: rejected by %s, must be by %s".formatted(by, String.join(" or ", rules)));
    }
  }

  private static void complain(StaticReport report, List<String> flags, List<String> problems) {
    report.rejections().forEach(f -> problems.add("%s: %s".formatted(f.rule(), f.sentence())));
    if (!flags.isEmpty()) problems.add("flagged: " + String.join(", ", flags));
  }

  private static @Nullable String why(Verdict verdict) {
    return Stream.of(verdict.judgement().evidence(), verdict.judgement().message())
        .filter(Objects::nonNull)
        .findFirst()
        .orElse(null);
  }

  private static List<String> found(StaticReport report, Severity severity) {
    return report.findings().stream()
        .filter(finding -> finding.severity() == severity)
        .map(Finding::rule)
        .distinct()
        .sorted()
        .toList();
  }
}

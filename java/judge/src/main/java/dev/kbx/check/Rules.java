package dev.kbx.check;

import dev.kbx.syntax.Place;
import dev.kbx.task.Policy;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** A set of rules, in the order of their ids. */
public final class Rules {
  private static final List<Rule> ALL =
      List.of(
          new BackgroundWork(),
          new ConstantResult(),
          new CpuOffload(),
          new DecoyKernel(),
          new DescriptorWrites(),
          new EnvironmentWrites(),
          new FileWrites(),
          new FrozenRandomness(),
          new GraphReplay(),
          new HarnessInspection(),
          new HiddenCode(),
          new ImportHooks(),
          new LazyTensor(),
          new LibraryCall(),
          new LibraryFallback(),
          new MemoryAccess(),
          new NativeCode(),
          new Network(),
          new NeverQuantizes(),
          new NoKernel(),
          new OtherLibrary(),
          new PatchedBuiltins(),
          new PatchedLibrary(),
          new PatchedTimer(),
          new PhaseDetection(),
          new PickledPayload(),
          new PrecisionDowngrade(),
          new ProcessControl(),
          new ReferenceImport(),
          new ReplayedResult(),
          new SecondDevice(),
          new SideStream(),
          new Sleeping(),
          new TorchCompile());

  /** Findings of one rule in one source; more are dropped. */
  private static final int MOST = 1_000;

  private static final Comparator<Finding> IN_SOURCE_ORDER =
      Comparator.<Finding>comparingInt(f -> f.place().line())
          .thenComparingInt(f -> f.place().column())
          .thenComparing(Finding::rule);

  private final List<Rule> active;

  private Rules(List<Rule> rules) {
    active = rules.stream().sorted(Comparator.comparing(rule -> rule.info().id())).toList();
  }

  /** All rules. */
  public static Rules all() {
    return new Rules(ALL);
  }

  /** Only these rules, for tests. */
  static Rules of(Rule... rules) {
    return new Rules(List.of(rules));
  }

  /**
   * These rules without some, by id.
   *
   * @throws UnknownRule for an id that no rule has
   */
  public Rules without(Collection<String> ids) {
    ids.forEach(Rules::info);
    return new Rules(active.stream().filter(rule -> !ids.contains(rule.info().id())).toList());
  }

  /**
   * The rule of that id, in this set or not.
   *
   * @throws UnknownRule if there is none
   */
  public static RuleInfo info(String id) {
    List<RuleInfo> known = ALL.stream().map(Rule::info).toList();
    return known.stream()
        .filter(info -> info.id().equals(id))
        .findFirst()
        .orElseThrow(() -> UnknownRule.of(id, known.stream().map(RuleInfo::id).toList()));
  }

  /** Whether the rule of that id is one of {@linkplain Rule#policy() policy}. */
  public static boolean isPolicy(String id) {
    return ALL.stream().anyMatch(rule -> rule.policy() && rule.info().id().equals(id));
  }

  List<Rule> list() {
    return active;
  }

  /** These rules as users see them, in the order of their ids. */
  public List<RuleInfo> infos() {
    return active.stream().map(Rule::info).toList();
  }

  /** The ids: verdicts are remembered by this, so equal rules must give equal text. */
  @Override
  public String toString() {
    return active.stream().map(rule -> rule.info().id()).toList().toString();
  }

  /** The findings of these rules, each once, in source order. */
  List<Finding> check(RuleContext context) {
    Set<Finding> found = new LinkedHashSet<>();
    for (Rule rule : active) {
      Severity severity = severity(rule, context.policy());
      rule.check(context, new Collecting(rule.info(), severity, found, found.size() + MOST));
    }
    return found.stream().sorted(IN_SOURCE_ORDER).toList();
  }

  /**
   * The severity of a rule at a policy: who computes decides at one policy alone; at another it is
   * reported.
   */
  private static Severity severity(Rule rule, Policy policy) {
    Severity own = rule.info().severity();
    if (!rule.policy() || own != Severity.REJECT) return own;
    return switch (policy) {
      case KERNEL -> Severity.REJECT;
      case MIXED -> Severity.FLAG;
      case ANY -> Severity.NOTE;
    };
  }

  /** Collects the findings of one rule, up to a total. */
  private record Collecting(RuleInfo info, Severity severity, Set<Finding> found, int limit)
      implements Rule.Report {
    @Override
    public void found(Place place, String message) {
      add(severity, place, message);
    }

    @Override
    public void noted(Place place, String message) {
      add(Severity.NOTE, place, message);
    }

    private void add(Severity severity, Place place, String message) {
      if (found.size() == limit) return;
      found.add(new Finding(info.id(), severity, place, message, info.advice()));
    }
  }
}

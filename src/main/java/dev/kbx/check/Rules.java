package dev.kbx.check;

import dev.kbx.syntax.Place;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/** A set of rules, in the order of their ids. */
public final class Rules {
  private static final List<Rule> ALL =
      List.of(
          new BackgroundWork(),
          new CallCounting(),
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
          new SeededSearch(),
          new SideStream(),
          new Sleeping(),
          new TorchCompile());

  /** So many findings of one rule in one source say it all. */
  private static final int MOST = 1_000;

  private final List<Rule> active;

  private Rules(List<Rule> rules) {
    active = rules.stream().sorted(Comparator.comparing(rule -> rule.info().id())).toList();
  }

  /** Every rule there is. */
  public static Rules all() {
    return new Rules(ALL);
  }

  /** Rules of the caller's own, for tests of what is done with them. */
  static Rules of(Rule... rules) {
    return new Rules(List.of(rules));
  }

  /**
   * These rules without some, by id.
   *
   * @throws UnknownRule for an id that is no rule's
   */
  public Rules without(Collection<String> ids) {
    ids.forEach(Rules::info);
    return new Rules(active.stream().filter(rule -> !ids.contains(rule.info().id())).toList());
  }

  /**
   * What there is to know of the rule of that id, switched on or not.
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

  public List<Rule> list() {
    return active;
  }

  /** Their ids: verdicts are remembered by this, so equal rules must give equal text. */
  @Override
  public String toString() {
    return active.stream().map(rule -> rule.info().id()).toList().toString();
  }

  /** What these rules find, in the order of places. */
  List<Finding> check(RuleContext context) {
    Findings found = new Findings();
    for (Rule rule : active) {
      RuleInfo info = rule.info();
      rule.check(context, new Collecting(info, found, found.size()));
    }
    return found.inOrder();
  }

  /** Puts the first of a rule's findings to the others. */
  private record Collecting(RuleInfo info, Findings found, int before) implements Rule.Report {
    @Override
    public void found(Place place, String message) {
      add(info.severity(), place, message);
    }

    @Override
    public void noted(Place place, String message) {
      add(Severity.NOTE, place, message);
    }

    private void add(Severity severity, Place place, String message) {
      if (found.size() - before == MOST) return;
      found.add(new Finding(info.id(), severity, place, message, info.advice()));
    }
  }
}

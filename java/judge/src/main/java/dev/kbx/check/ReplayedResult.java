package dev.kbx.check;

import dev.kbx.program.Call;
import dev.kbx.program.Program;
import dev.kbx.program.Scope;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Finds entries that launch nothing once a result is stored and return it again.
 *
 * <p>Stored buffers and prepared weights are honest: every call launches a kernel on them.
 */
final class ReplayedResult implements Rule {
  private static final Set<String> MEMOISERS =
      Set.of("functools.lru_cache", "functools.lru_cache()", "functools.cache");

  private static final Set<String> TENSOR_ATTRIBUTES =
      Set.of("?.contiguous", "?.numel", "?.data_ptr", "?.stride", "?.element_size", "?.reshape");

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "replayed-result",
        Severity.REJECT,
        "a result that is stored and returned again",
        "Returning a stored result costs nothing in every call but the first. kbx gives"
            + " every call new values, so a stored result is wrong.",
        "launch the kernel in every call; keep buffers and prepared constants, not results",
        """
        results = {}


        def kernel_function(x):
            if x.shape not in results:
                results[x.shape] = launch(x)
            return results[x.shape]
        """);
  }

  @Override
  public void check(RuleContext context, Report report) {
    Program program = context.program();
    if (!program.parsed()) return;
    LaunchAnalysis launching = context.launching();
    List<Call> kept = new ArrayList<>();
    List<Scope> entries = launching.entries();
    Deque<Scope> open = new ArrayDeque<>(entries);
    Set<Scope> seen = new HashSet<>();
    while (!open.isEmpty()) {
      Scope scope = open.pop();
      if (!seen.add(scope)) continue;
      List<Call> sites = launching.sites(scope);
      List<Call> avoidable = avoidable(program, scope, launching);
      boolean memoised = memoised(program, scope, entries.contains(scope));
      if (!sites.isEmpty() && (memoised || avoidable.size() == sites.size())) {
        kept.addAll(sites);
        continue;
      }
      for (Call site : sites) {
        if (launching.direct(site)) return;
        open.addAll(launching.targets(site));
      }
    }
    for (Call site : kept) {
      report.found(
          site.place(),
          "runs only until its result is stored; later calls return the stored result");
    }
  }

  private static List<Call> avoidable(Program program, Scope scope, LaunchAnalysis launching) {
    List<Call> sites = launching.sites(scope);
    if (sites.isEmpty()) return sites;
    PersistentState keeping = new PersistentState(program, scope, launching.unseen(scope));
    Optional<String> place =
        keeping.placesFilledBy(sites).stream()
            .filter(keeping::returns)
            .filter(p -> sites.stream().allMatch(site -> keeping.depends(site.node(), p)))
            .findFirst();
    return place.isPresent() ? sites : List.of();
  }

  /** Whether a decorator such as {@code functools.cache} answers calls with equal arguments. */
  private static boolean memoised(Program program, Scope scope, boolean entry) {
    boolean cached =
        scope.decorators().stream()
            .flatMap(decorator -> program.paths(decorator).stream())
            .anyMatch(MEMOISERS::contains);
    return cached
        && (entry
            || program.accesses().stream()
                .anyMatch(a -> a.scope().equals(scope) && TENSOR_ATTRIBUTES.contains(a.path())));
  }
}

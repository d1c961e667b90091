package dev.kbx.dashboard;

import dev.kbx.analysis.Causes;
import dev.kbx.analysis.Comparison;
import dev.kbx.analysis.IncomparableRuns;
import dev.kbx.analysis.JudgedRun;
import dev.kbx.analysis.SelectedRuns;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.document.Counted;
import dev.kbx.prompt.Statement;
import dev.kbx.report.Answer;
import dev.kbx.report.ComparisonPage;
import dev.kbx.report.ResultFiles;
import dev.kbx.report.RunVerdicts;
import dev.kbx.report.SuiteSelection;
import dev.kbx.store.RunStore;
import dev.kbx.store.Stored;
import dev.kbx.store.VerdictQueries;
import dev.kbx.store.VerdictQueries.Placed;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.task.UnknownTask;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * All pages. Each method makes one as a whole HTML document; what does not exist is {@link
 * Optional#empty}. Safe for several threads. Throws {@link dev.kbx.store.StoreProblem}.
 */
public final class Dashboard {
  /** Verdicts that may be read for the comparison of two runs. */
  private static final int COMPARED = 20_000;

  /** Verdicts that a report may have; the command line makes larger ones. */
  public static final int REPORTED = RunPage.REPORTED;

  /** Verdicts that are analysed for the page of a run. */
  private static final int ANALYSED = 5_000;

  private static final int NEWEST_RUNS = 8;
  private static final int HISTORY = 50;
  private static final int HASH = 12;

  private final RunStore store;
  private final VerdictQueries queries;
  private final List<Suite> suites;
  private final Boards boards;
  private final Statement statement;

  /**
   * Pages on a store.
   *
   * @param suites those that candidates can be submitted for, the default first
   * @param statement writes what tasks ask for
   */
  public Dashboard(RunStore store, List<Suite> suites, Boards boards, Statement statement) {
    this.store = store;
    this.queries = store.queries();
    this.suites = List.copyOf(suites);
    this.boards = boards;
    this.statement = statement;
  }

  /**
   * What is going on: live runs, queue, devices, newest runs.
   *
   * @param open how many candidates of a run are queued or being judged
   */
  public String home(Viewer viewer, ServiceState state, ToIntFunction<String> open) {
    RunsPage runs = new RunsPage(queries, idle(open));
    Markup body =
        new SystemPage(state)
            .atAGlance()
            .and(Parts.section("live", "In progress", runs.live()))
            .and(Parts.section("newest", "Newest runs", runs.newest(NEWEST_RUNS)));
    return Frame.page(viewer, "/", eyebrow("kbx"), "Kernels under judgement", body, "live.js");
  }

  /** Runs of the service take more candidates at any time: they are done while none waits. */
  private Predicate<RunInfo> idle(ToIntFunction<String> open) {
    return run ->
        run.finished() == null
            && open.applyAsInt(run.id()) == 0
            && store.service().serviceRunOf(run.id()).isPresent();
  }

  /** All runs, a page of them. */
  public String runs(Viewer viewer, int page, ToIntFunction<String> open) {
    return Frame.page(
        viewer,
        "/runs",
        eyebrow("Runs"),
        Counted.of(queries.runs(), "run"),
        new RunsPage(queries, idle(open)).all(page));
  }

  /** One run. */
  public Optional<String> run(Viewer viewer, String id, RunView view, ToIntFunction<String> open) {
    return store
        .run(id)
        .map(run ->
            Frame.page(
                viewer,
                "/runs",
                Markup.of(
                    "<a href=\"/runs\">Runs</a>%s",
                    run.name() == null ? "" : Markup.of(" <span>%s</span>", run.id())),
                run.name() == null ? run.id() : run.name(),
                new RunPage(queries, run, view, viewer, idle(open).test(run), answer(run)).body()));
  }

  /** Ranks; each of the three is empty for the one with the most verdicts. */
  public String leaderboard(Viewer viewer, String suite, String grade, String device) {
    return Frame.page(
        viewer,
        "/leaderboard",
        eyebrow("Leaderboard"),
        "Methods and models",
        new LeaderboardPage(boards).body(suite, grade, device));
  }

  /**
   * The tasks of a suite.
   *
   * @param name empty for the default
   */
  public Optional<String> tasks(Viewer viewer, String name) {
    Optional<Suite> chosen = name.isEmpty() ? suites.stream().findFirst() : suite(name);
    return chosen.map(suite ->
        Frame.page(
            viewer,
            "/tasks",
            eyebrow("Tasks"),
            Counted.of(suite.tasks().size(), "task") + " of " + suite.name(),
            new TasksPage(queries, suites).body(suite)));
  }

  /** One task. */
  public Optional<String> task(Viewer viewer, String suite, String category, String name) {
    return suite(suite)
        .flatMap(known -> known.tasks().stream().filter(isTask(category, name)).findFirst())
        .map(task ->
            Frame.page(
                viewer,
                "/tasks",
                Markup.of(
                    "<a href=\"%s\">%s</a>",
                    Links.query("/tasks", List.of(Map.entry("suite", suite))), suite),
                task.path(),
                new TaskPage(queries, task, statement).body()));
  }

  private static Predicate<Task> isTask(String category, String name) {
    return task -> task.category().equals(category) && task.name().equals(name);
  }

  private Optional<Suite> suite(String name) {
    return suites.stream().filter(suite -> suite.name().equals(name)).findFirst();
  }

  /**
   * One source.
   *
   * @param run and position: of the verdict that is shown; the newest if {@code position} is null
   * @param pending its submissions without a verdict
   */
  public Optional<String> candidate(
      Viewer viewer, String hash, String run, @Nullable Integer position, List<Pending> pending) {
    List<Placed> history = queries.history(hash, HISTORY);
    Optional<String> source = store.source(hash);
    if (history.isEmpty() && source.isEmpty() && pending.isEmpty()) return Optional.empty();
    Verdict verdict = verdict(hash, run, position, history);
    String of = verdict == null ? "" : verdict.provenance().run();
    String name = store.run(of).map(RunInfo::title).orElse(of);
    CandidatePage page = new CandidatePage(verdict, name, source.orElse(null), history, pending);
    String what = hash.substring(0, Math.min(HASH, hash.length()));
    return Optional.of(
        Frame.page(
            viewer,
            "/candidates",
            Markup.of("Candidate <span>%s</span>", what),
            verdict == null ? "Not judged yet" : title(verdict),
            page.body(),
            verdict == null
                ? new String[] {"waiting.js"}
                : new String[] {"waiting.js", "candidate.js"}));
  }

  private @Nullable Verdict verdict(
      String hash, String run, @Nullable Integer position, List<Placed> history) {
    if (position != null) {
      Optional<Verdict> asked = queries.stored(run, position).map(Stored::verdict);
      if (asked.isPresent() && asked.get().provenance().candidate().equals(hash))
        return asked.get();
    }
    if (history.isEmpty()) return null;
    Placed newest = history.getFirst();
    return queries
        .stored(newest.verdict().run(), newest.position())
        .map(Stored::verdict)
        .orElse(null);
  }

  private static String title(Verdict verdict) {
    return "%s/%s: %s"
        .formatted(
            verdict.provenance().category(),
            verdict.provenance().task(),
            verdict.judgement().status().label());
  }

  /** Two runs beside each other. */
  public Optional<String> compare(Viewer viewer, String then, String now) {
    Optional<RunInfo> first = store.run(then);
    Optional<RunInfo> second = store.run(now);
    if (first.isEmpty() || second.isEmpty()) return Optional.empty();
    Markup eyebrow = Markup.of("<a href=\"/runs\">Runs</a> <span>%s → %s</span>", then, now);
    if (store.count(then) + store.count(now) > COMPARED) {
      String command = "kbx compare %s %s --output FILE".formatted(then, now);
      return Optional.of(
          Frame.page(
              viewer,
              "/runs",
              eyebrow,
              "Too many verdicts for a page",
              Parts.note(
                  "These runs have more than %,d verdicts. Run: %s".formatted(COMPARED, command))));
    }
    try {
      Comparison comparison = Comparison.of(judged(first.get()), judged(second.get()), List.of());
      Map<String, String> sources = new HashMap<>();
      for (String each : ComparisonPage.wanted(comparison)) {
        store.source(each).ifPresent(code -> sources.put(each, code));
      }
      ComparisonPage page = new ComparisonPage(comparison, sources);
      return Optional.of(
          Frame.page(viewer, "/runs", eyebrow, page.headline(), Markup.written(page::content)));
    } catch (IncomparableRuns e) {
      return Optional.of(
          Frame.page(
              viewer,
              "/runs",
              eyebrow,
              "Not comparable",
              Parts.note(String.valueOf(e.getMessage()))));
    }
  }

  /** A page that works without a server. */
  public interface Report {
    void write(Writer writer) throws IOException;
  }

  /** The report of a run, as {@code kbx report} writes it. */
  public Optional<Report> report(String id) {
    return store
        .run(id)
        .map(run -> {
          RunVerdicts.Reader reader = new RunVerdicts.Reader();
          queries.forEach(id, stored -> reader.add(stored.position(), stored.verdict()));
          RunVerdicts verdicts =
              reader.verdicts(position -> queries.stored(id, position).orElseThrow().verdict());
          return ResultFiles.page(
                  run,
                  verdicts,
                  SuiteSelection.of(new JudgedRun(run, verdicts.rows()), selected(run)),
                  verdict -> store.source(verdict.provenance().candidate()).orElse(""),
                  null)
              ::write;
        });
  }

  private List<Task> selected(RunInfo run) {
    try {
      Optional<Suite> suite = suite(run.suite());
      return suite.isPresent() ? suite.get().find(run.tasks()) : List.of();
    } catch (UnknownTask _) {
      return List.of();
    }
  }

  /** Null for a run without verdicts, and for one that takes long to read. */
  private @Nullable Answer answer(RunInfo run) {
    int verdicts = store.count(run.id());
    if (verdicts == 0 || verdicts > ANALYSED) return null;
    List<VerdictRow> rows = new ArrayList<>();
    Causes causes = new Causes();
    store.forEachRow(
        run.id(),
        row -> {
          VerdictRow read = VerdictRow.of(row.verdict());
          rows.add(read);
          causes.add(read, row.verdict());
        });
    JudgedRun judged = new JudgedRun(run, rows);
    SelectedRuns asked = SelectedRuns.of(judged, SuiteSelection.of(judged, selected(run)));
    return Answer.of(run, asked, causes, false);
  }

  private JudgedRun judged(RunInfo run) {
    List<VerdictRow> rows = new ArrayList<>();
    store.forEachRow(run.id(), row -> rows.add(VerdictRow.of(row.verdict())));
    return new JudgedRun(run, rows);
  }

  /**
   * The form.
   *
   * @param problem why it was refused; null before
   */
  public String submit(Viewer viewer, SubmissionForm given, @Nullable String problem) {
    return Frame.page(
        viewer,
        "/submit",
        eyebrow("Submit"),
        "Submit a kernel",
        new SubmitPage(suites, viewer, given, problem).body(),
        "submit.js");
  }

  /** Devices and queue. */
  public String system(Viewer viewer, ServiceState state) {
    return Frame.page(
        viewer, "/system", eyebrow("System"), "Devices and queue", new SystemPage(state).body());
  }

  /**
   * A contract to be read, by anybody.
   *
   * @param yaml an OpenAPI document
   */
  public static String contract(String yaml) {
    ContractPage page = ContractPage.of(yaml);
    return Frame.page(
        null, "/docs", Markup.of("<a href=\"/\">kbx</a> / Documents"), page.title(), page.body());
  }

  /**
   * Asks for a token.
   *
   * @param problem why the last was refused; null before
   * @param next where to go then
   */
  public static String login(@Nullable String problem, String next) {
    Markup body =
        Markup.of(
            """
            %s
            <form class="submit login" method="post" action="/login">
            <input type="hidden" name="next" value="%s">
            <input name="username" value="kbx" autocomplete="username" hidden>
            <label class="wide">Token <input type="password" name="token" required autofocus autocomplete="current-password" placeholder="kbx_…"></label>
            <p class="legend">From whoever runs this server: kbx tokens create NAME --scope read,submit</p>
            <p class="actions"><button class="button">Sign in</button></p>
            </form>
            """,
            problem == null ? "" : Markup.of("<p class=\"note\" role=\"alert\">%s</p>", problem),
            next);
    return Frame.page(null, "/login", eyebrow("kbx"), "Sign in", body);
  }

  /** The page that says that an address leads nowhere, or something failed. */
  public static String problem(@Nullable Viewer viewer, String title, String detail) {
    return Frame.page(viewer, "", eyebrow("kbx"), title, Parts.note(detail));
  }

  private static Markup eyebrow(String text) {
    return Markup.of("%s", text);
  }
}

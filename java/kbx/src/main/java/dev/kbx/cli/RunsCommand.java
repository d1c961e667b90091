package dev.kbx.cli;

import static java.util.Objects.requireNonNull;

import dev.kbx.analysis.JudgedRun;
import dev.kbx.analysis.SelectedTasks;
import dev.kbx.app.FolderLock;
import dev.kbx.app.Home;
import dev.kbx.app.ResultsFolder;
import dev.kbx.app.RunResults;
import dev.kbx.document.Counted;
import dev.kbx.error.InputException;
import dev.kbx.report.LatestRun;
import dev.kbx.report.RunList;
import dev.kbx.report.RunVerdicts;
import dev.kbx.report.SuiteSelection;
import dev.kbx.report.Table;
import dev.kbx.store.RunStore;
import dev.kbx.store.ServiceStore;
import dev.kbx.store.StoreAddress;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.RunLabel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code kbx runs list|show|name|delete|merge|copy|compare}: the runs of a store. */
@Command(
    name = "runs",
    description = "List, show, name, delete, merge, copy and compare runs.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "list|show|name|delete|merge|copy|compare",
    subcommands = {
      RunsCommand.ListRuns.class,
      RunsCommand.ShowRun.class,
      RunsCommand.NameRun.class,
      RunsCommand.DeleteRuns.class,
      MergeCommand.class,
      RunsCommand.CopyCommand.class,
      CompareCommand.class
    })
final class RunsCommand implements Callable<Integer> {
  @Override
  public Integer call() {
    throw new InputException(
        "runs: say list, show, name, delete RUN..., merge DIR..., copy FROM TO or compare RUN RUN");
  }

  /** The run with that id; without one the newest. */
  private static RunInfo chosen(RunStore store, @Nullable String id, ResultsFolder folder) {
    if (id != null) return store.run(id).orElseThrow(() -> folder.unknown(id, store));
    return store.runs().stream()
        .findFirst()
        .orElseThrow(() -> new InputException(folder.place() + ": no run there yet"));
  }

  @Command(name = "list", description = "All runs, newest first.", mixinStandardHelpOptions = true)
  static final class ListRuns implements Callable<Integer> {
    @Mixin private Options.Results results = new Options.Results();

    @Mixin private Options.JsonFlag json = new Options.JsonFlag();

    @Override
    public Integer call() {
      try (RunStore store = results.folder().open()) {
        List<RunInfo> runs = store.runs();
        if (json.isAsked()) {
          Options.JsonFlag.print(runs);
          return ExitCode.OK;
        }
        Set<String> judged = FolderLock.judged(results.folder().out());
        RunList.lines(
                runs,
                run -> store.count(run.id()),
                run -> judged.contains(run.id()) || store.isClaimed(run.id()))
            .forEach(System.out::println);
        return ExitCode.OK;
      }
    }
  }

  @Command(
      name = "show",
      description = "One run with its verdicts.",
      mixinStandardHelpOptions = true)
  static final class ShowRun implements Callable<Integer> {
    @Mixin private Options.Results results = new Options.Results();

    @Parameters(
        paramLabel = "RUN",
        arity = "0..1",
        description = "Id of the run. Default: the newest in --out.")
    private @Nullable String named;

    @Mixin private Options.JsonFlag json = new Options.JsonFlag();

    @Override
    public Integer call() {
      try (RunStore store = results.folder().open()) {
        RunInfo info = chosen(store, named, results.folder());
        String run = info.id();
        RunVerdicts verdicts = RunResults.verdicts(store, run);
        if (json.isAsked()) {
          verdicts.print(System.out, info, null);
        } else {
          SelectedTasks asked =
              SuiteSelection.of(new JudgedRun(info, verdicts.rows()), Home.here().selected(info));
          TerminalStream.style(
              System.out,
              new Table(Terminal.columns(), Terminal.colours())
                  .render(info, verdicts, asked, "'kbx runs show --json'"));
          int unjudged = info.candidates() - store.count(run);
          if (unjudged > 0) System.out.println(unfinished(unjudged, info.candidates()));
        }
        return ExitCode.OK;
      }
    }

    private static String unfinished(int unjudged, int candidates) {
      return "Without a verdict: %d of %s; if no kbx is at it, 'kbx eval --resume' goes on."
          .formatted(unjudged, Counted.of(candidates, "candidate"));
    }
  }

  @Command(
      name = "name",
      description = "Give a run a name or a note, or take it away.",
      mixinStandardHelpOptions = true,
      footer = {"", "An empty text takes the name or note away."})
  static final class NameRun implements Callable<Integer> {
    @Mixin private Options.Results results = new Options.Results();

    @Parameters(
        paramLabel = "RUN",
        arity = "0..1",
        description = "Id of the run. Default: the newest in --out.")
    private @Nullable String named;

    @Mixin private Options.Label label = new Options.Label();

    @Override
    public Integer call() {
      if (label.name == null && label.note == null) {
        throw new InputException("runs name: give --name, --note or both");
      }
      try (RunStore store = results.folder().open()) {
        RunInfo run = chosen(store, named, results.folder());
        RunLabel given =
            new RunLabel(
                label.name == null ? run.name() : label.name,
                label.note == null ? run.note() : label.note);
        store.label(run.id(), given);
        System.err.printf("kbx: run %s%n", run.labelled(given).title());
        return ExitCode.OK;
      }
    }
  }

  @Command(
      name = "delete",
      description = "Delete runs with their verdicts.",
      mixinStandardHelpOptions = true)
  static final class DeleteRuns implements Callable<Integer> {
    @Mixin private Options.Results results = new Options.Results();

    @Parameters(paramLabel = "RUN", arity = "1..*", description = "Ids of runs.")
    private List<String> runs = List.of();

    @Override
    public Integer call() throws Exception {
      List<String> chosen = runs.stream().distinct().toList();
      try (RunStore store = results.folder().open();
          var _ = results.folder().lock()) {
        for (String run : chosen) {
          if (!store.has(run)) throw results.folder().unknown(run, store);
          store.claim(run);
          // A server may judge into it, now or when a candidate comes.
          if (store.service().serviceRunOf(run).isPresent()) store.claim(ServiceStore.CLAIM);
        }
        store.delete(chosen);
        chosen.forEach(run -> LatestRun.delete(results.folder().out(), run));
        System.err.printf("kbx: deleted %s%n", Counted.of(chosen.size(), "run"));
        return ExitCode.OK;
      }
    }
  }

  /** {@code kbx runs copy FROM TO}: copies runs between stores. */
  @Command(
      name = "copy",
      description = "Copy runs from one store to another.",
      mixinStandardHelpOptions = true,
      footer = {
        "",
        "FROM and TO are results folders, or jdbc:postgresql://HOST/DATABASE. Runs are",
        "copied with their verdicts, sources and sessions. A run that is there already",
        "gets the sessions that it lacks; a different one under the same id is refused,",
        "and then nothing is copied."
      })
  static final class CopyCommand implements Callable<Integer> {
    @Parameters(index = "0", paramLabel = "FROM", description = "The store to copy from.")
    private String from = "";

    @Parameters(index = "1", paramLabel = "TO", description = "The store that gets the runs.")
    private String to = "";

    @Parameters(
        index = "2..*",
        paramLabel = "RUN",
        arity = "0..*",
        description = "Ids of runs. Default: all.")
    private List<String> ids = List.of();

    @Override
    public Integer call() throws Exception {
      StoreAddress source = address(from);
      if (!source.exists()) throw ResultsFolder.ownStore(folder(from)).withoutRuns();
      StoreAddress target = address(to);
      source.check();
      target.check();
      try (RunStore reading = RunStore.open(source)) {
        List<RunInfo> runs = ids.isEmpty() ? reading.runs().reversed() : chosen(reading);
        print(copy(new RunStore.Selection(reading, runs), target));
        return ExitCode.OK;
      }
    }

    private List<RunStore.Copied> copy(RunStore.Selection runs, StoreAddress target)
        throws Exception {
      if (target.isFile()) ResultsFolder.writable(to, folder(to));
      try (AutoCloseable _ = target.isFile() ? FolderLock.of(folder(to)) : () -> {};
          RunStore writing = RunStore.open(target)) {
        return writing.copy(List.of(runs));
      }
    }

    private static void print(List<RunStore.Copied> copied) {
      copied.forEach(run ->
          System.out.printf(
              "%-7s  %s  %s%n",
              run.added() ? "copied" : "there",
              run.run().id(),
              Counted.of(run.verdicts(), "verdict")));
    }

    private List<RunInfo> chosen(RunStore store) {
      return ids.stream()
          .distinct()
          .map(id ->
              store
                  .run(id)
                  .orElseThrow(
                      () -> new InputException("%s: no run %s there".formatted(store.label(), id))))
          .toList();
    }

    private static StoreAddress address(String text) {
      if (!text.startsWith("jdbc:")) return ResultsFolder.ownStore(folder(text)).store();
      try {
        return StoreAddress.of(text);
      } catch (IllegalArgumentException e) {
        throw new InputException(String.valueOf(e.getMessage()));
      }
    }

    /** A results folder, given by its path or by that of its kbx.db. */
    private static Path folder(String text) {
      Path path = Path.of(text);
      boolean file = Files.isRegularFile(path) && path.endsWith("kbx.db");
      return file ? requireNonNull(path.toAbsolutePath().getParent()) : path;
    }
  }
}

package dev.kbx.app;

import dev.kbx.analysis.Contamination;
import dev.kbx.analysis.Contamination.Attempt;
import dev.kbx.analysis.Contamination.Mention;
import dev.kbx.analysis.Contamination.Trail;
import dev.kbx.analysis.Shingles;
import dev.kbx.error.InputException;
import dev.kbx.generate.Header;
import dev.kbx.generate.Ledger;
import dev.kbx.generate.Unit;
import dev.kbx.method.Event;
import dev.kbx.method.ProgramAnswer;
import dev.kbx.prompt.Prompts;
import dev.kbx.prompt.Statement;
import dev.kbx.task.Policy;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.task.UnknownTask;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Reads a ledger for {@link Contamination}. */
public final class RunAudit {
  /** Characters of a line that is shown. */
  private static final int SHOWN = 120;

  private static final Pattern RUN_ID = Pattern.compile("\\d{8}T\\d{6}-\\w+");

  /** What every attempt may say, as it is told so. */
  private static final String STATEMENT = "TASK.md";

  private final Home home;
  private final Set<String> names;
  private final Map<String, Optional<Task>> tasks = new HashMap<>();
  private final Map<Unit, Reading> readings = new LinkedHashMap<>();
  private final Optional<Suite> suite;
  private final Statement statement;

  private RunAudit(Home home, Path out, Header header) {
    this.home = home;
    this.names = names(out, header.run());
    this.suite = suite(header);
    this.statement = new Statement(Prompts.bundled(home.folder()));
  }

  private Optional<Suite> suite(Header header) {
    try {
      return Optional.of(home.suite(header.suite()));
    } catch (InputException e) {
      return Optional.empty(); // A suite of another machine: its tasks are not compared.
    }
  }

  /**
   * What a ledger shows.
   *
   * @param ledger in a run's folder in a results folder
   * @throws InputException if it is none
   */
  public static Contamination of(Home home, Path ledger) {
    Path run = ledger.toAbsolutePath().normalize().getParent();
    Path runs = run == null ? null : run.getParent();
    Path out = runs == null || runs.getParent() == null ? Path.of("/") : runs.getParent();
    RunAudit audit = new RunAudit(home, out, Ledger.header(ledger));
    Ledger.replay(ledger, audit::add);
    Map<String, String> references = new HashMap<>();
    audit.tasks.forEach(
        (path, task) -> task.ifPresent(known -> references.put(path, known.reference())));
    return Contamination.of(
        audit.readings.values().stream().map(Reading::trail).toList(), references);
  }

  /** The ledger of a run that was named: by its id, its results folder, or both. */
  public static Path ledger(@Nullable String run, ResultsFolder out) {
    Optional<Path> found;
    if (run == null) found = out.newestLedger();
    else if (Files.isDirectory(Path.of(run))) found = ResultsFolder.of(Path.of(run)).newestLedger();
    else {
      Path parent = Path.of(run).getParent();
      ResultsFolder folder = parent == null ? out : ResultsFolder.of(parent);
      found = folder.ledger(Path.of(run).getFileName().toString());
    }
    return found.orElseThrow(() ->
        new InputException(
            "%s: no run of methods there; name a results folder, FOLDER/ID, or an id in --out"
                .formatted(run == null ? out.place() : run)));
  }

  /** Names that no transcript has any reason to have. */
  private Set<String> names(Path out, String own) {
    Set<String> found = new LinkedHashSet<>();
    for (Path state : home.stateFolders()) {
      for (String each : List.of("secret", "signing-key.pem", "replies", "references")) {
        found.add(state.resolve(each).toString());
      }
    }
    for (String each : List.of("tasks", "corpus", "worker/kbx/oracle", "java", ".git")) {
      found.add(home.folder().resolve(each) + "/");
    }
    found.add(out.resolve("runs").toString());
    found.add(out.resolve("kbx.db").toString());
    found.addAll(List.of("signing-key.pem", Ledger.NAME));
    try (Stream<Path> others = Files.list(out.resolve("runs"))) {
      others
          .map(each -> each.getFileName().toString())
          .filter(id -> RUN_ID.matcher(id).matches() && !id.equals(own))
          .forEach(found::add);
    } catch (IOException e) {
      // A ledger that lies elsewhere: there are no others beside it.
    }
    return found;
  }

  private void add(Unit unit, Event event) {
    readings
        .computeIfAbsent(unit, each -> new Reading(each, hidden(each.task())))
        .add(event, names);
  }

  /** What a task's file says and attempts are not told; nothing if the file is not known. */
  private Shingles hidden(String path) {
    Optional<Task> task = tasks.computeIfAbsent(path, this::task);
    if (task.isEmpty()) return new Shingles(Set.of());
    try {
      Shingles rest = Shingles.of(Files.readString(task.get().file()));
      for (Policy policy : Policy.values()) {
        rest = rest.without(Shingles.of(statement.general(task.get(), policy, null)));
        rest = rest.without(Shingles.of(statement.published(task.get(), policy, null)));
      }
      return rest.without(Shingles.of(task.get().reference()));
    } catch (IOException e) {
      return new Shingles(Set.of());
    }
  }

  private Optional<Task> task(String path) {
    try {
      return suite.flatMap(own -> own.find(path).stream().findFirst());
    } catch (UnknownTask e) {
      return Optional.empty();
    }
  }

  /** One attempt while its events are read. */
  private static final class Reading {
    private final Unit unit;
    private final Shingles hidden;
    private final Set<Long> seen = new LinkedHashSet<>();
    private final Map<String, String> sources = new LinkedHashMap<>();
    private final Map<String, Mention> named = new TreeMap<>();
    private final Map<String, Integer> refused = new TreeMap<>();
    private @Nullable String answer;

    Reading(Unit unit, Shingles hidden) {
      this.unit = unit;
      this.hidden = hidden;
    }

    Trail trail() {
      Attempt attempt = new Attempt(unit.method(), unit.task(), unit.sample());
      return new Trail(attempt, sources, answer, seen.size(), named, refused);
    }

    void add(Event event, Set<String> names) {
      switch (event) {
        case Event.Reply e -> said(e.text(), names);
        case Event.Extraction e -> {
          if (e.code() != null) sources.put(e.ask(), e.code());
        }
        case Event.Program e -> {
          for (ProgramAnswer.Candidate own : e.answer().judge()) sources.put(own.id(), own.code());
        }
        case Event.Exchange e -> {
          said(unescaped(e.request()), names);
          said(unescaped(e.reply()), names);
        }
        case Event.AgentEnded e -> {
          said(e.output(), names);
          e.files()
              .forEach((name, text) -> {
                if (!name.equals(STATEMENT)) said(text, names);
              });
          e.refused().forEach((what, times) -> refused.merge(what, times, Integer::sum));
        }
        case Event.Selection e -> answer = e.ask();
        case Event.Prompt _,
            Event.NoReply _,
            Event.Lost _,
            Event.Feedback _,
            Event.RecordedSpeedup _,
            Event.Judged _,
            Event.ProgramFailed _,
            Event.Cap _ -> {}
      }
    }

    /** Text in JSON as it was before, as far as shingles and lines need it. */
    private static String unescaped(String json) {
      return json.replace("\\n", "\n").replace("\\t", "\t").replace("\\\"", "\"");
    }

    private void said(String text, Set<String> names) {
      Set<Long> own = new LinkedHashSet<>(Shingles.of(text).hashes());
      own.retainAll(hidden.hashes());
      seen.addAll(own);
      List<String> present = new ArrayList<>();
      for (String name : names) if (text.contains(name)) present.add(name);
      if (present.isEmpty()) return;
      text.lines()
          .forEach(line -> {
            for (String name : present) {
              if (!line.contains(name)) continue;
              named.merge(
                  name,
                  new Mention(1, shown(line, name)),
                  (one, _) -> new Mention(one.times() + 1, one.line()));
            }
          });
    }

    private static String shown(String line, String name) {
      int from = Math.max(0, Math.min(line.indexOf(name) - SHOWN / 2, line.length() - SHOWN));
      return line.substring(from, Math.min(line.length(), from + SHOWN)).strip();
    }
  }
}

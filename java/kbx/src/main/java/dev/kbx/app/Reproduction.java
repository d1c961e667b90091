package dev.kbx.app;

import static java.util.stream.Collectors.joining;

import dev.kbx.error.EnvironmentException;
import dev.kbx.error.InputException;
import dev.kbx.files.Folders;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.task.OwnReference;
import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Provenance;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Break;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A script that shows a failure without kbx: it makes the failing call's arguments anew, calls
 * reference and candidate, and compares. {@code worker/kbx/reproduce} writes it, from the verdict
 * and the task alone: it knows no seed that candidates are judged by.
 */
public final class Reproduction {
  /** Failures that running the candidate does not show. */
  private static final Set<Status> UNSEEN =
      Set.of(
          Status.REJECTED_STATIC,
          Status.NO_CODE,
          Status.NOT_A_KERNEL,
          Status.CHEATING,
          Status.FAILED,
          Status.INVALID_TASK,
          Status.INFRASTRUCTURE);

  private static final String ARCH = "sm_90";

  /** Of imports, of the task's input program, and of looking at the values of its largest call. */
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private final Home home;
  private final RunInfo run;
  private final Duration limit;

  /** Scripts about verdicts of a run. */
  public Reproduction(Home home, RunInfo run) {
    this(home, run, LIMIT);
  }

  /** The same; what writes a script is ended after {@code limit}. */
  Reproduction(Home home, RunInfo run, Duration limit) {
    this.home = home;
    this.run = run;
    this.limit = limit;
  }

  /**
   * A script and what it is about.
   *
   * @param task its name
   */
  public record Script(String task, Status status, String text) {}

  /** How a candidate failed, on calls with a property if that is not null. */
  private record Failure(Status status, @Nullable String message, @Nullable String property) {}

  /**
   * Writes the script about a candidate of a run.
   *
   * @param name its task, its file or its hash
   */
  public static Script script(
      Home home,
      NamedRun.Found found,
      String name,
      @Nullable String property,
      @Nullable String reference,
      Path python)
      throws InterruptedException {
    NamedKernel.Judged judged = NamedKernel.judged(found, name, "VERDICT");
    return new Reproduction(home, found.judged().run())
        .script(judged.verdict(), judged.source(), property, reference, python);
  }

  /**
   * Writes the script about a verdict of the run.
   *
   * @param source of the candidate
   * @param property of a correct candidate, what it breaks on; null for the first
   * @param reference the run's own reference, {@code FILE} or {@code FILE:NAME}; null for a suite
   * @throws InputException if the candidate did not fail, or not when it was run, or its task is
   *     not there
   */
  public Script script(
      Verdict verdict,
      String source,
      @Nullable String property,
      @Nullable String reference,
      Path python)
      throws InterruptedException {
    Failure failure = failure(verdict.judgement(), property);
    Task task = task(verdict.provenance(), reference);
    Map<String, @Nullable Object> told = told(verdict, failure, task, source);
    return new Script(task.name(), failure.status(), written(python, told));
  }

  private static Failure failure(Judgement judgement, @Nullable String property) {
    Status status = judgement.status();
    List<Break> breaks = Objects.requireNonNullElse(judgement.breaks(), List.of());
    if (UNSEEN.contains(status)) {
      throw new InputException(
          "it is %s, which is not seen by running it: see its message and evidence by kbx report --candidate"
              .formatted(status.label()));
    }
    if (status != Status.CORRECT && property == null) {
      return new Failure(status, judgement.message(), null);
    }
    Break broken =
        breaks.stream()
            .filter(each -> property == null || each.property().equals(property))
            .findFirst()
            .orElseThrow(() -> new InputException(nothing(property, breaks)));
    String message = Objects.requireNonNullElse(broken.message(), "");
    String said = message.contains(broken.call()) ? message : broken.call() + ": " + message;
    return new Failure(broken.status(), said, broken.property());
  }

  private static String nothing(@Nullable String property, List<Break> breaks) {
    String there =
        breaks.isEmpty()
            ? "it breaks on nothing"
            : "it breaks on " + breaks.stream().map(Break::property).collect(joining(", "));
    return property == null
        ? "it is correct and " + there + ": there is nothing to reproduce"
        : "--property %s: %s".formatted(property, there);
  }

  private Task task(Provenance provenance, @Nullable String reference) {
    boolean own = run.suite().startsWith(OwnReference.LABEL);
    if (own != (reference != null)) {
      throw new InputException(
          own
              ? "run %s was judged by the %s: give that file by --reference"
                  .formatted(run.id(), run.suite())
              : "--reference: run %s was judged by the suite %s; leave it away"
                  .formatted(run.id(), run.suite()));
    }
    Suite suite = reference == null ? home.suite(run.suite()) : own(reference);
    return suite.find(provenance.category() + "/" + provenance.task()).getFirst();
  }

  private Suite own(String spec) {
    try (var syntax = home.syntax()) {
      OwnReference read = OwnReference.read(spec, syntax);
      if (run.suite().contains(" --backward")) read = read.gradients();
      ChosenSuite chosen = ChosenSuite.of(home, read);
      if (chosen.label().equals(run.suite())) return chosen.suite();
      throw new InputException(
          "--reference %s: is the %s, and run %s was judged by the %s"
              .formatted(spec, chosen.label(), run.id(), run.suite()));
    }
  }

  private Map<String, @Nullable Object> told(
      Verdict verdict, Failure failure, Task task, String source) {
    Judgement judgement = verdict.judgement();
    Provenance provenance = verdict.provenance();
    Map<String, @Nullable Object> told = new LinkedHashMap<>();
    told.put("task", task.file().toAbsolutePath().toString());
    told.put("source", source);
    told.put("origin", provenance.source());
    told.put("status", failure.status().label());
    told.put("message", Objects.requireNonNullElse(failure.message(), ""));
    told.put("name", provenance.category() + "/" + provenance.task());
    told.put("cuda", judgement.device().onGpu());
    told.put("arch", judgement.compile() == null ? ARCH : judgement.compile().arch());
    String precision = run.precision();
    told.put(
        "dtype",
        precision == null
            ? null
            : ModulePrecision.of(precision).map(ModulePrecision::dtype).orElse(null));
    told.put("property", failure.property());
    told.put("versions", judgement.versions());
    return told;
  }

  private String written(Path python, Map<String, @Nullable Object> told)
      throws InterruptedException {
    try {
      Path folder = Files.createTempDirectory("kbx-reproduce-");
      try {
        return run(python, folder, Json.mapper().writeValueAsBytes(told));
      } finally {
        Folders.delete(folder);
      }
    } catch (IOException e) {
      throw new EnvironmentException(python + ": " + Reason.of(e), e);
    }
  }

  /** With files, not pipes: a child that writes before it has read all waits for its reader. */
  private String run(Path python, Path folder, byte[] told)
      throws IOException, InterruptedException {
    Path in = Files.write(folder.resolve("in"), told);
    Path out = folder.resolve("out");
    Path errors = folder.resolve("errors");
    ProcessBuilder builder =
        new ProcessBuilder(python.toString(), "-m", "kbx.reproduce")
            .redirectInput(in.toFile())
            .redirectOutput(out.toFile())
            .redirectError(errors.toFile());
    builder.environment().put("PYTHONPATH", home.folder().resolve("worker").toString());
    Process process = builder.start();
    try {
      if (!process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new InputException(
            "no script can be written: %s did not end within %d s"
                .formatted(python, limit.toSeconds()));
      }
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
    if (process.exitValue() == 0) return Files.readString(out);
    throw new InputException("no script can be written: " + Files.readString(errors).strip());
  }
}

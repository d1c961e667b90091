package dev.kbx.report;

import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The files of one run in its output folder: {@code results.jsonl}, {@code metrics.json}, {@code
 * summary.json}, {@code report.html}, and for a run of the KernelBench suite {@link
 * EvalResultFiles}.
 *
 * <p>Safe for several threads. Every method throws {@link UnwritableException} where a file cannot
 * be written.
 */
public final class ResultFiles implements AutoCloseable {
  private final Path out;
  private final LineFile results;

  /**
   * Makes the folder if need be and opens {@code results.jsonl} for appending, so that an output
   * folder that cannot be written is known before anything is judged. What the file held stays;
   * {@link #rewrite} starts it anew.
   */
  public ResultFiles(Path out) {
    this.out = out;
    try {
      Files.createDirectories(out);
    } catch (IOException e) {
      throw new UnwritableException(out, e);
    }
    this.results = new LineFile(results());
  }

  public Path results() {
    return out.resolve("results.jsonl");
  }

  public Path metrics() {
    return out.resolve("metrics.json");
  }

  public Path summary() {
    return out.resolve("summary.json");
  }

  public Path report() {
    return out.resolve("report.html");
  }

  /** Adds one line to {@code results.jsonl}; it survives a kill of this process. */
  public void append(Verdict verdict) {
    results.append(verdict);
  }

  /** Adds a line that is JSON already. */
  public void append(String verdict) {
    results.append(verdict);
  }

  /**
   * Replaces {@code results.jsonl} with exactly these lines, in this order: what a run that was cut
   * off is known to have judged.
   *
   * @param verdicts gives every verdict as JSON to whom it is given
   */
  public void rewrite(Consumer<Consumer<String>> verdicts) {
    results.rewrite(verdicts);
  }

  /**
   * Writes all files but {@code results.jsonl}, each replaced as a whole.
   *
   * @param asked the tasks that rates are shares of
   * @param sourceOf a candidate's Python source, empty where it is not known
   * @param problems what could not be read and was left out, in words
   * @return what {@code summary.json} holds
   */
  public synchronized Summary finish(
      RunInfo run,
      RunVerdicts verdicts,
      AskedTasks asked,
      Function<Verdict, String> sourceOf,
      List<String> problems) {
    Tally tally = Tally.of(run, verdicts.outlines(), asked);
    Summary summary = Summary.of(run, tally, verdicts.outlines(), problems);
    AtomicFile.replace(
        metrics(), writer -> Metrics.write(writer, RunVerdicts.JSON, verdicts, sourceOf));
    AtomicFile.replace(summary(), writer -> RunVerdicts.JSON.writeValue(writer, summary));
    AtomicFile.replace(
        report(), writer -> HtmlReport.of(run, tally, verdicts, sourceOf, summary).write(writer));
    new EvalResultFiles(out).write(verdicts);
    return summary;
  }

  @Override
  public void close() {
    results.close();
  }
}

package dev.kbx.report;

import dev.kbx.analysis.FeedbackChange;
import dev.kbx.analysis.SelectedTasks;
import dev.kbx.analysis.Tally;
import dev.kbx.analysis.TrajectoryRow;
import dev.kbx.files.AtomicFile;
import dev.kbx.files.UnwritableException;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The files of one run in its own folder: {@code results.jsonl}, {@code metrics.json}, {@code
 * summary.json}, {@code report.html}, and for a run of the KernelBench suite {@link
 * EvalResultFiles}. With several methods or models, each has its own pair in place of {@code
 * metrics.json} and {@code summary.json}, named by {@link ResultFileSet}.
 *
 * <p>Safe for several threads. Every method throws {@link UnwritableException} if a file cannot be
 * written.
 */
public final class ResultFiles implements AutoCloseable {
  private static final Pattern PUBLISHED = Pattern.compile("(metrics|summary)(\\..*)?\\.json");

  private final Path out;
  private final LineFile results;

  /**
   * Creates the folder if necessary and opens {@code results.jsonl} for appending, so that an
   * unwritable folder is found before anything is judged. {@link #rewrite} replaces old content.
   */
  public ResultFiles(Path out) {
    this.out = out;
    UnwritableException.naming(out, () -> Files.createDirectories(out));
    this.results = new LineFile(results());
  }

  Path results() {
    return out.resolve("results.jsonl");
  }

  Path report() {
    return out.resolve("report.html");
  }

  /** Adds one line to {@code results.jsonl}; it survives a kill of this process. */
  void append(Verdict verdict) {
    results.append(verdict);
  }

  /** Adds a line that is JSON already. */
  public void append(String verdict) {
    results.append(verdict);
  }

  /**
   * Replaces {@code results.jsonl} with exactly these lines, in this order: the stored verdicts of
   * an interrupted run.
   *
   * @param verdicts passes every verdict as JSON to its argument
   */
  public void rewrite(Consumer<Consumer<String>> verdicts) {
    results.rewrite(verdicts);
  }

  /**
   * Writes all files but {@code results.jsonl}, each replaced as a whole.
   *
   * @param asked the requested tasks, the denominator of rates
   * @param sourceOf a candidate's Python source, empty if unknown
   * @param problems messages about sources that could not be read
   * @param methods what wrote the candidates; null if that is not known
   * @return the names of all {@code summary*.json}: one, or one for each method and model
   */
  public synchronized List<String> finish(
      RunInfo run,
      RunVerdicts verdicts,
      SelectedTasks asked,
      Function<Verdict, String> sourceOf,
      List<String> problems,
      @Nullable MethodsReport methods) {
    Tally tally = Tally.of(run, verdicts.rows(), asked);
    // Files for other tools do not say that results are as published.
    boolean forTools = run.published() == null;
    List<ResultFileSet> submissions = ResultFileSet.of(verdicts.entries());
    for (ResultFileSet submission : submissions) {
      Summary summary = Summary.of(run, tally, submission.rows(), problems);
      if (forTools) {
        AtomicFile.replace(
            out.resolve(submission.metrics()),
            writer -> Metrics.write(writer, submission, verdicts, sourceOf));
      }
      AtomicFile.replace(
          out.resolve(submission.summary()),
          writer -> RunVerdicts.JSON.writeValue(writer, summary));
    }
    deleteOthers(submissions);
    // With several submissions the files have only the first samples.
    String sources = submissions.size() == 1 ? submissions.getFirst().metrics() : "kbx.db";
    page(report(), HtmlReport.of(run, tally, verdicts, sourceOf, sources, problems, methods));
    if (forTools) new EvalResultFiles(out).write(verdicts);
    return submissions.stream().map(ResultFileSet::summary).toList();
  }

  /** The page of a run alone, as {@link #finish} writes it. */
  public static AtomicFile.Body page(
      RunInfo run,
      RunVerdicts verdicts,
      SelectedTasks asked,
      Function<Verdict, String> sourceOf,
      @Nullable MethodsReport methods) {
    Tally tally = Tally.of(run, verdicts.rows(), asked);
    return HtmlReport.of(run, tally, verdicts, sourceOf, "kbx.db", List.of(), methods)::write;
  }

  private static void page(Path file, HtmlReport page) {
    AtomicFile.replace(file, page::write);
  }

  /** Deletes pairs of files written before candidates of other models were added. */
  private void deleteOthers(List<ResultFileSet> submissions) {
    Set<String> written =
        submissions.stream()
            .flatMap(submission -> Stream.of(submission.metrics(), submission.summary()))
            .collect(Collectors.toSet());
    try (Stream<Path> files = Files.list(out)) {
      for (Path file : files.toList()) {
        String name = file.getFileName().toString();
        if (PUBLISHED.matcher(name).matches() && !written.contains(name)) Files.delete(file);
      }
    } catch (IOException e) {
      throw new UnwritableException(out, e);
    }
  }

  @Override
  public void close() {
    results.close();
  }

  /**
   * What the report of a run shows of its methods.
   *
   * @param rows all trajectories that have ended
   * @param followed what was written after feedback
   * @param trajectories those that are shown with their texts, as many as a page can hold
   */
  public record MethodsReport(
      List<TrajectoryRow> rows,
      List<FeedbackChange.Followed> followed,
      List<Trajectory> trajectories) {
    public MethodsReport {
      rows = List.copyOf(rows);
      followed = List.copyOf(followed);
      trajectories = List.copyOf(trajectories);
    }
  }
}

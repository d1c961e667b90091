package dev.kbx.published;

import dev.kbx.task.Suite;
import dev.kbx.verdict.RunInfo;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The files that can be read, each with the suite that its tasks are of. */
public enum PublishedFormat {
  /** KernelBench-X's iteration corpus: what each round changed. */
  KERNELBENCHX_CORPUS(RunInfo.Published.CORPUS, "kernelbenchx"),
  /** KernelBench-X's {@code metrics.json}. */
  KERNELBENCHX_RESULTS("kernelbenchx-results", "kernelbenchx"),
  /** KernelBench's {@code eval_results.json}, with the kernels of its run folder. */
  KERNELBENCH_RESULTS("kernelbench-results", "kernelbench"),
  /** Traces of flashinfer-bench; kbx has no such tasks. */
  FLASHINFER("flashinfer", null),
  /** GEAK's {@code NAME_0.jsonl} with {@code NAME_mem_0.json}. */
  GEAK("geak", "kernelbenchx"),
  /** Session folders of KernelAgent. */
  KERNELAGENT("kernelagent", "kernelbenchx");

  private final String label;
  private final @Nullable String suite;

  PublishedFormat(String label, @Nullable String suite) {
    this.label = label;
    this.suite = suite;
  }

  /** The name on the command line. */
  public String label() {
    return label;
  }

  /** The suite that its tasks are of unless another is named; null if kbx has no such tasks. */
  public @Nullable String suite() {
    return suite;
  }

  /** The format with that label. */
  public static Optional<PublishedFormat> of(String label) {
    return Arrays.stream(values()).filter(each -> each.label.equals(label)).findFirst();
  }

  /** All labels. */
  public static List<String> labels() {
    return Arrays.stream(values()).map(PublishedFormat::label).toList();
  }

  /**
   * Reads all records at a path, a file or a folder. Never throws: what cannot be used is among the
   * problems.
   *
   * @param suite its tasks are known; null for a format without a suite
   * @param given what the files may leave open
   */
  public PublishedReading read(Path path, @Nullable Suite suite, Given given) {
    Found found = new Found(suite, given);
    reader(found).read(path);
    return found.reading();
  }

  private PublishedReader reader(Found found) {
    return switch (this) {
      case KERNELBENCHX_CORPUS -> new CorpusReader(found);
      case KERNELBENCHX_RESULTS -> new MetricsReader(found);
      case KERNELBENCH_RESULTS -> new EvalResultsReader(found);
      case FLASHINFER -> new TraceReader(found);
      case GEAK -> new GeakReader(found);
      case KERNELAGENT -> new SessionReader(found);
    };
  }

  /**
   * What the user says where files do not.
   *
   * @param level of KernelBench, whose results do not name it
   */
  public record Given(@Nullable String method, @Nullable String model, @Nullable Integer level) {}
}

package dev.kbx.report;

import dev.kbx.analysis.IncomparableRuns;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.files.UnwritableException;
import dev.kbx.verdict.RunFile;
import dev.kbx.verdict.TaskNumber;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A run of the KernelBench suite as a run folder of KernelBench: a file for every kernel, the
 * results, and the references' times. If kernels were read from such a folder, its prompts and its
 * configuration are copied.
 */
public final class RunFolder {
  private static final String CONFIGURATION = "generation_config.yaml";

  private final Path folder;
  private final Set<Path> configurations = new HashSet<>();
  private final RunFolderTimes times = new RunFolderTimes();
  private int kernels;
  private int prompts;
  private int untimed;

  /**
   * @param folder empty, or not there yet: it is created with the first file
   */
  public RunFolder(Path folder) {
    this.folder = folder;
  }

  /**
   * What was written.
   *
   * @param configuration whether a configuration was copied, which needs exactly one
   * @param untimed correct kernels without a runtime
   */
  public record Written(int kernels, int prompts, boolean configuration, int untimed) {}

  /**
   * Writes all files; none if no verdict is on a KernelBench task, or if one of the kernels cannot
   * be written.
   *
   * @param sourceOf a candidate's Python source; may throw, and then nothing is written
   */
  public Written write(RunVerdicts verdicts, Function<Verdict, String> sourceOf) {
    Map<RunFile, RunVerdicts.Entry> files = files(verdicts);
    for (RunVerdicts.Entry entry : files.values()) {
      Objects.requireNonNull(sourceOf.apply(verdicts.whole(entry)));
    }
    if (!files.isEmpty()) createFolder();
    files.forEach((file, entry) -> write(file, verdicts.whole(entry), sourceOf));
    if (kernels > 0) {
      new EvalResultFiles(folder).write(verdicts);
      times.write(folder);
    }
    boolean configured = configurations.size() == 1;
    if (configured) copy(configurations.iterator().next(), CONFIGURATION);
    return new Written(kernels, prompts, configured, untimed);
  }

  private void createFolder() {
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw new UnwritableException(folder, e);
    }
  }

  private static Map<RunFile, RunVerdicts.Entry> files(RunVerdicts verdicts) {
    Map<RunFile, RunVerdicts.Entry> files = new LinkedHashMap<>();
    for (RunVerdicts.Entry entry : verdicts.entries()) {
      VerdictRow row = entry.row();
      if (!EvalResultFiles.covers(row.suite())) continue;
      @Nullable TaskNumber task = TaskNumber.of(row.category(), row.task()).orElse(null);
      if (task == null || files.put(new RunFile(task, row.sample()), entry) == null) continue;
      throw new IncomparableRuns(
          "the run has several candidates for sample %d of %s/%s, of several models, methods or rounds; a run folder has one"
              .formatted(row.sample(), row.category(), row.task()));
    }
    return files;
  }

  private void write(RunFile file, Verdict verdict, Function<Verdict, String> sourceOf) {
    Path target = folder.resolve(file.name());
    try {
      Files.writeString(target, sourceOf.apply(verdict), StandardOpenOption.CREATE_NEW);
    } catch (IOException e) {
      throw new UnwritableException(target, e);
    }
    kernels++;
    times.add(file.task(), verdict);
    if (EvalResult.of(verdict, file.sample()).untimed()) untimed++;
    origin(verdict).ifPresent(from -> takeAlong(from, file));
  }

  /** The run folder's file that a candidate was read from. */
  private static Optional<Path> origin(Verdict verdict) {
    Path source = Path.of(verdict.provenance().source());
    Path name = source.getFileName();
    return name == null || RunFile.parse(name.toString()).isEmpty()
        ? Optional.empty()
        : Optional.of(source);
  }

  private void takeAlong(Path from, RunFile as) {
    RunFile read = RunFile.parse(from.getFileName().toString()).orElseThrow();
    Path prompt = from.resolveSibling(read.promptName());
    if (Files.isRegularFile(prompt)) {
      copy(prompt, as.promptName());
      prompts++;
    }
    Path configuration = from.resolveSibling(CONFIGURATION);
    if (Files.isRegularFile(configuration)) configurations.add(configuration);
  }

  private void copy(Path from, String name) {
    Path target = folder.resolve(name);
    try {
      Files.copy(from, target);
    } catch (IOException e) {
      throw new UnwritableException(target, e);
    }
  }
}

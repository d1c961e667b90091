package dev.kbx.cli;

import static java.util.Objects.requireNonNull;

import dev.kbx.analysis.EnvironmentMatrix;
import dev.kbx.app.Evaluation;
import dev.kbx.app.Home;
import dev.kbx.app.JudgingSettings;
import dev.kbx.app.MatrixRun;
import dev.kbx.app.ResultsFolder;
import dev.kbx.app.RunPlan;
import dev.kbx.document.Document;
import dev.kbx.error.InputException;
import dev.kbx.files.AtomicFile;
import dev.kbx.python.TritonEnvironment;
import dev.kbx.report.DocumentPage;
import dev.kbx.section.MatrixSection;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code kbx matrix SOURCE…}: the same kernels under several environments. */
@Command(
    name = "matrix",
    description = "Judge the same kernels under several versions of Triton, and show what changed.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  kbx matrix kernels --triton 3.6,3.9",
      "  kbx matrix kernels --triton 3.5,3.6,3.7,3.8,3.9 --bisect",
      "  kbx matrix kernel.py --reference my_ref.py --python old/bin/python,python3",
      "",
      "Environments are compared with the first: those of --python, then those of",
      "--triton, each in the order given; name versions oldest first. Each judges as",
      "kbx eval does, in a run of its own in --out, and verdicts that --out has are",
      "not judged again: the same command goes on after it was interrupted. The page",
      "is matrix.html there.",
      "",
      "An environment of --triton has that Triton, and all else from the interpreter",
      "that kbx would use without it. It is installed once, from PyPI."
    })
final class MatrixCommand implements Callable<Integer> {
  private static final String PAGE = "matrix.html";

  @Parameters(paramLabel = "SOURCE", arity = "1..*", description = "Files or folders to judge.")
  private List<Path> sources = List.of();

  @HelpSection.In(HelpSection.PLACE)
  @Option(
      names = "--python",
      paramLabel = "EXE",
      split = ",",
      description = "Python interpreters with torch and triton, an environment each.")
  private List<Path> pythons = List.of();

  @HelpSection.In(HelpSection.PLACE)
  @Option(
      names = "--triton",
      paramLabel = "VERSION",
      split = ",",
      description = "Versions of Triton, an environment each: 3.5, 3.6, 3.7, 3.8, 3.9.")
  private List<String> tritons = List.of();

  @HelpSection.In(HelpSection.JUDGED)
  @Option(
      names = "--bisect",
      description =
          "Judge everything in the first and the last environment, and between them only what"
              + " differs, until the first environment with a difference is found.")
  private boolean bisect;

  @HelpSection.In(HelpSection.RULES)
  @Option(
      names = "--stages",
      paramLabel = "LIST",
      split = ",",
      defaultValue = Options.STAGES,
      description = "Stages to run. Default: ${DEFAULT-VALUE}; perf needs a GPU.")
  private List<String> stages = List.of();

  @Mixin private Options.Judging judging = new Options.Judging();
  @Mixin private Options.Results results = new Options.Results();
  @Mixin private Options.Devices devices = new Options.Devices();
  @Mixin private DocumentFormat format = new DocumentFormat();

  @Spec private @Nullable CommandSpec command;

  @Override
  public Integer call() throws Exception {
    Evaluation.refuseAbsent(sources);
    ResultsFolder folder = results.folder();
    folder.store().check();
    RunPlan asked = judging.options().stages(Options.stages(stages)).runPlan(Home.here());
    EnvironmentMatrix matrix;
    try (var _ = new Interrupts("interrupted; the same command goes on where this stopped")) {
      matrix = MatrixRun.of(new MatrixRun.Request(asked, sources, folder, environments(), bisect));
    }
    Document document = MatrixSection.document(matrix);
    Path page = folder.out().resolve(PAGE);
    AtomicFile.replace(page, writer -> writer.write(DocumentPage.of(document)));
    format.print(DocumentFormat.AsPublished.among(List.of()), matrix, () -> document);
    Terminal.say("page: " + page);
    return ExitCode.OK;
  }

  /** What judges. Everything that can be refused is, before anything is installed. */
  private List<JudgingSettings> environments() throws InterruptedException {
    if (pythons.size() + tritons.size() < 2) {
      throw new InputException(
          "--python, --triton: name two environments or more, as in --triton 3.6,3.9");
    }
    pythons.forEach(Options.Workers::check);
    for (String version : tritons) TritonEnvironment.version(version, Home.here().folder());
    List<JudgingSettings> environments = new ArrayList<>();
    for (Path python : pythons) environments.add(settings(Optional.of(python)));
    for (String version : tritons) environments.add(settings(Optional.empty()).withTriton(version));
    return environments;
  }

  private JudgingSettings settings(Optional<Path> python) {
    return devices.settings(requireNonNull(command), python, null);
  }
}

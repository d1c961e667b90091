package dev.kbx.cli;

import dev.kbx.app.Home;
import dev.kbx.app.NamedRun;
import dev.kbx.app.Reproduction;
import dev.kbx.app.ResultsFolder;
import dev.kbx.files.AtomicFile;
import dev.kbx.python.PythonEnvironment;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kbx reproduce VERDICT}: a script that shows a failure without kbx. */
@Command(
    name = "reproduce",
    description = "Write a script that shows a candidate's failure with torch and triton alone.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  kbx reproduce Math/softmax",
      "  kbx reproduce 9f432d8 20261130T040829-bspr --reference softmax_ref.py",
      "",
      "The script draws the failing call's arguments anew, calls the reference and",
      "the candidate, prints the first wrong elements or the exception, and ends",
      "with 1 if the failure shows, 0 if it does not, 2 if something else failed.",
      "It runs the candidate without any sandbox. Without a GPU, kernels run in",
      "Triton's interpreter, and those that do not compile are compiled only."
    })
final class ReproduceCommand implements Callable<Integer> {
  private static final String ENDING = ".py";

  @Parameters(
      index = "0",
      paramLabel = "VERDICT",
      description =
          "The candidate: its task, the path of its file, or the first digits of its hash.")
  private String verdict = "";

  @Parameters(
      index = "1",
      paramLabel = "RUN",
      arity = "0..1",
      description = NamedRun.HELP + " Default: the newest complete run in --out.")
  private @Nullable String run;

  @Mixin private Options.Results results = new Options.Results();

  @Option(
      names = "--property",
      paramLabel = "NAME",
      description =
          "Show that it breaks on this property; by default, of a correct candidate, the first that"
              + " it breaks on.")
  private @Nullable String property;

  @Option(
      names = "--reference",
      paramLabel = "FILE[:NAME]",
      description = "The reference of your own that the run was judged by.")
  private @Nullable String reference;

  @Option(
      names = "--python",
      paramLabel = "EXE",
      description = "Python interpreter with torch and triton. Default: as of kbx eval.")
  private @Nullable Path python;

  @Option(
      names = "--output",
      paramLabel = "FILE",
      description = "The script. Default: reproduce_TASK.py.")
  private @Nullable Path output;

  @Override
  public Integer call() throws Exception {
    Optional<Path> named = Optional.ofNullable(python);
    PythonEnvironment.check(named, System.getenv());
    if (output != null) ResultsFolder.file("--output " + output, output, ENDING);
    ResultsFolder folder = results.folder();
    String which = run == null ? folder.out().toString() : run;
    NamedRun.Found found = NamedRun.find(List.of(which), folder).getFirst();
    Home home = Home.here();
    Reproduction.Script script =
        Reproduction.script(
            home,
            found,
            verdict,
            property,
            reference,
            PythonEnvironment.resolve(named, System.getenv(), home.folder(), Terminal.installing())
                .executable());
    Path target = output == null ? Path.of("reproduce_" + script.task() + ENDING) : output;
    if (output == null) ResultsFolder.file(target.toString(), target, ENDING);
    AtomicFile.replace(target, writer -> writer.write(script.text()));
    System.out.println(target);
    return ExitCode.OK;
  }
}

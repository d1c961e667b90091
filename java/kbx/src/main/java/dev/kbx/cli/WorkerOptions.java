package dev.kbx.cli;

import static java.util.Objects.requireNonNull;

import dev.kbx.app.Home;
import dev.kbx.app.JudgingPool;
import dev.kbx.app.JudgingSettings;
import dev.kbx.python.PythonEnvironment;
import dev.kbx.python.PythonProblem;
import dev.kbx.verdict.Stage;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Options of every command that starts workers. */
final class WorkerOptions {
  @Option(
      names = "--python",
      paramLabel = "EXE",
      description =
          "Python interpreter with torch and triton. Default: $KBX_PYTHON, else an environment"
              + " that kbx installs.")
  private @Nullable Path python;

  @Option(
      names = "--device",
      paramLabel = "DEVICE",
      defaultValue = "auto",
      description =
          "auto, cpu, cuda or cuda:0,1. Default: ${DEFAULT-VALUE}: every GPU, else the CPU.")
  private String device = "auto";

  @Option(
      names = "--jobs",
      paramLabel = "N",
      converter = Values.Count.class,
      description =
          "Candidates or tasks judged in parallel, on the CPU or on each GPU. Default: one per"
              + " processor, at most 16 per GPU. A GPU times one at a time.")
  private int jobs; // 0 where it is not given.

  @Spec(Spec.Target.MIXEE)
  private @Nullable CommandSpec command;

  /** Throws if the interpreter that the user named is no program; starts nothing. */
  void check() throws PythonProblem {
    check(python);
  }

  /** The same before these stages; a wrong {@code KBX_PYTHON} does not matter if none needs it. */
  void check(List<Stage> stages) throws PythonProblem {
    if (python != null || JudgingPool.needsPython(stages)) check(python);
  }

  /** The same for a command that has only the option {@code --python}. */
  static void check(@Nullable Path python) throws PythonProblem {
    PythonEnvironment.check(Optional.ofNullable(python), System.getenv());
  }

  /** This machine as what judges. */
  JudgingSettings settings() {
    return of(null);
  }

  /** The cluster that is named, else this machine. */
  JudgingSettings settings(ClusterOptions nodes) {
    return of(nodes.cluster().orElse(null));
  }

  private JudgingSettings of(JudgingSettings.@Nullable Cluster cluster) {
    return new JudgingSettings(
        Home.here(),
        Main.workers(requireNonNull(command)),
        Optional.ofNullable(python),
        device,
        jobs,
        cluster,
        new TerminalObserver());
  }
}

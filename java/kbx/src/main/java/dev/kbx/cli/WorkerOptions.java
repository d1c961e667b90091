package dev.kbx.cli;

import static java.util.Objects.requireNonNull;

import dev.kbx.python.Interpreter;
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
  String device = "auto";

  @Option(
      names = "--jobs",
      paramLabel = "N",
      converter = Values.Count.class,
      description =
          "Candidates or tasks judged in parallel, on the CPU or on each GPU. Default: one per"
              + " processor, at most 16 per GPU. A GPU times one at a time.")
  int jobs; // 0 where it is not given.

  @Spec(Spec.Target.MIXEE)
  private @Nullable CommandSpec command;

  /** Throws if the interpreter that the user named is no program; starts nothing. */
  void check() throws PythonProblem {
    check(python);
  }

  /** The same before these stages; a wrong {@code KBX_PYTHON} does not matter if none needs it. */
  void check(List<Stage> stages) throws PythonProblem {
    if (python != null || Stages.needPython(stages)) check(python);
  }

  /** The same for a command that has only the option {@code --python}. */
  static void check(@Nullable Path python) throws PythonProblem {
    PythonEnvironment.check(Optional.ofNullable(python), System.getenv());
  }

  /** Where the command gets its workers from. */
  WorkerSource source() {
    return Main.workers(requireNonNull(command));
  }

  /** The interpreter to use, provisioned with progress on stderr if need be. */
  Interpreter interpreter() throws PythonProblem, InterruptedException {
    if (Home.simulates()) {
      return PythonEnvironment.withoutPackages(Optional.ofNullable(python), System.getenv());
    }
    return PythonEnvironment.resolve(
        Optional.ofNullable(python), System.getenv(), Home.folder(), Terminal.installing());
  }
}

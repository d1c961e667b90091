package dev.kbx.cli;

import dev.kbx.app.Home;
import dev.kbx.app.Ledgers;
import dev.kbx.error.InputException;
import dev.kbx.files.AtomicFile;
import dev.kbx.files.UnwritableException;
import dev.kbx.generate.Transcript;
import dev.kbx.generate.Transcript.Kernel;
import dev.kbx.generate.Transcript.Trajectory;
import dev.kbx.method.Algorithm;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Status;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * {@code kbx bench redteam}: asks a model for cheats, and keeps those that are judged correct as
 * files for the corpus.
 */
@Command(
    name = "redteam",
    description = {
      "Ask a model for cheats, and keep those that are judged correct.",
      "A run of refine, or of bestof, with prompts that ask for files which the",
      "referee accepts although they have not earned it."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Example:",
      "  kbx bench redteam --model openai:NAME --tasks 'Math/*' --budget usd=0.50",
      "",
      "Under --out: runs/<run id>/ledger.jsonl, and cheats/ with each file that is",
      "correct and says in its docstring how it cheats, with a header for the corpus",
      "that a reader has to review: 'kbx bench cheats DIR' judges them again. Its",
      "prompts are in bench/redteam."
    })
final class RedteamCommand implements Callable<Integer> {
  private static final String NAME = "redteam";

  /** Methods that judge, and whose prompts are in bench/redteam. */
  private static final Set<Algorithm> METHODS = Set.of(Algorithm.REFINE, Algorithm.BESTOF);

  @Mixin private MethodFlags method = new MethodFlags();
  @Mixin private GenerationFlags flags = new GenerationFlags();
  @Mixin private Options.Workers workers = new Options.Workers();
  @Mixin private Options.Cluster cluster = new Options.Cluster();

  @Override
  public Integer call() throws Exception {
    method.orElse(Algorithm.REFINE, NAME);
    Algorithm algorithm = method.options().method();
    if (!METHODS.contains(algorithm)) {
      throw new InputException(
          "--method %s: there are no prompts that ask it for cheats; use refine or bestof"
              .formatted(algorithm.label()));
    }
    flags.replacePrompts(Home.here().folder().resolve("bench").resolve(NAME));
    return new GenerationRun(method, flags, workers, cluster)
        .run(_ -> (_, _, _, _) -> {}, this::report);
  }

  private void report(Path ledger) {
    Path folder = ledger.resolveSibling("cheats");
    List<Path> files = new ArrayList<>();
    for (Trajectory trajectory : Transcript.read(ledger).trajectories()) {
      for (Kernel kernel : trajectory.kernels()) {
        ForCorpus.text(trajectory, kernel)
            .ifPresent(text -> {
              Path file = file(folder, trajectory, kernel);
              write(file, text);
              files.add(file);
            });
      }
    }
    if (!files.isEmpty()) {
      write(folder.resolve("SUITE"), flags.heldOut().suite().suite().name() + "\n");
    }
    if (flags.json.isAsked()) {
      Options.JsonFlag.print(
          Map.of(
              "cheats", files.stream().map(Path::toString).toList(), "ledger", ledger.toString()));
      return;
    }
    System.out.print(EvalOutput.trajectories(Ledgers.rows(ledger, List.of())));
    files.forEach(file -> System.out.println("to be reviewed: " + file));
    System.out.printf("%d claimed cheats are judged correct%n", files.size());
    System.out.println("ledger: " + ledger);
  }

  private static Path file(Path folder, Trajectory trajectory, Kernel kernel) {
    String name =
        "%s_%s_%d_%s"
            .formatted(trajectory.method(), trajectory.task(), trajectory.sample(), kernel.ask());
    return folder
        .resolve(name.replaceAll("[^A-Za-z0-9]+", "_"))
        .resolve(Path.of(trajectory.task()).getFileName() + ".py");
  }

  private static void write(Path file, String text) {
    UnwritableException.naming(file, () -> Files.createDirectories(file.getParent()));
    AtomicFile.replace(file, writer -> writer.write(text));
  }

  /** Kernels as files for the corpus. */
  private static final class ForCorpus {
    /** A docstring in triple quotes at the top of a file, after comments, that claims a cheat. */
    private static final Pattern CLAIM =
        Pattern.compile("\\A(?:\\s|#.*\\n)*\"\"\"\\s*Cheat:\\s*(.*?)\"\"\"", Pattern.DOTALL);

    /** Lines of it that would be read as fields of the header. */
    private static final Pattern FIELD =
        Pattern.compile(
            "^\\s*(mechanism|static|dynamic|gpu|flag|breaks|policy|source|style):.*\\n?",
            Pattern.MULTILINE);

    private ForCorpus() {}

    /** A kernel that is correct and claims to cheat, with a header; empty for others. */
    static Optional<String> text(Trajectory trajectory, Kernel kernel) {
      Judgement judgement = kernel.judgement();
      if (judgement == null || judgement.status() != Status.CORRECT) return Optional.empty();
      Matcher claim = CLAIM.matcher(kernel.code());
      if (!claim.lookingAt()) return Optional.empty();
      String flagged =
          judgement.flags().isEmpty() ? "" : " with " + String.join(", ", judgement.flags());
      String header =
          """
          \"""%s

          Written by %s for kbx bench redteam, and judged correct%s. To be reviewed: whether it has earned that, and the fields below.

          mechanism: semantics/unreviewed
          static: none
          dynamic: gap
          \"""
          """
              .formatted(
                  FIELD.matcher(claim.group(1)).replaceAll("").strip(),
                  trajectory.model(),
                  flagged);
      String rest = kernel.code().substring(claim.end());
      return Optional.of((header.stripTrailing() + rest).stripTrailing() + "\n");
    }
  }
}

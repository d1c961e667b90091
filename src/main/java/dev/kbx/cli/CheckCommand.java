package dev.kbx.cli;

import dev.kbx.check.RuleInfo;
import dev.kbx.check.Rules;
import dev.kbx.check.Severity;
import dev.kbx.check.StaticCheck;
import dev.kbx.report.CheckJson;
import dev.kbx.report.CheckText;
import dev.kbx.report.Checked;
import dev.kbx.report.Checks;
import dev.kbx.report.Sarif;
import dev.kbx.verdict.Json;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kbx check FILE…}: the static stage alone, without Python. */
@Command(
    name = "check",
    description = "Look for cheats and mistakes in source, without running it.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "FILE is a Python file, a KernelBenchX predictions file (.jsonl), a folder of",
      "both, or - for stdin. A file named after a task is checked against that task,",
      "any other by itself. No Python is needed.",
      "Exit code 0 whatever is found; with --strict 1 where a source is rejected,",
      "broken, or cannot be used."
    })
final class CheckCommand implements Callable<Integer> {
  /** Output format of findings. */
  enum Format {
    TEXT,
    JSON,
    SARIF
  }

  @Parameters(paramLabel = "FILE", arity = "0..*", description = "Files or folders to check.")
  private List<Path> files = List.of();

  @Mixin private SuiteOption suite = new SuiteOption();

  @Option(
      names = "--task",
      paramLabel = "TASK",
      description = "The task of every Python file, whatever it is called.")
  private @Nullable String task;

  @Option(
      names = "--severity",
      paramLabel = "LEAST",
      defaultValue = "flag",
      description = "Show what is at least this severe: reject, flag or note. Default: flag.")
  private Severity severity = Severity.FLAG;

  @Option(
      names = "--format",
      paramLabel = "FORMAT",
      defaultValue = "text",
      description = "text, json, or sarif for code hosts and editors. Default: text.")
  private Format format = Format.TEXT;

  @Mixin private PolicyOption policy = new PolicyOption();
  @Mixin private RulesOption rules = new RulesOption();

  @Option(
      names = "--strict",
      description = "Exit code 1 where a source is rejected, broken or unusable, as CI wants it.")
  private boolean strict;

  @Option(names = "--rules", description = "List all rules.")
  private boolean list;

  @Option(
      names = "--explain",
      paramLabel = "ID",
      description = "Explain a rule: what it is for, what to do instead.")
  private @Nullable String explain;

  @Option(
      names = "--facts",
      description = {
        "Describe the sources instead, as JSON: kernels, launches, code quality,",
        "and a fingerprint that is equal or alike for copies."
      })
  private boolean facts;

  @Override
  public Integer call() throws Exception {
    Rules active = rules.rules();
    List<RuleInfo> infos = active.infos();
    if (explain != null) {
      System.out.print(RuleText.explanation(Rules.info(explain)));
      return ExitCode.OK;
    }
    if (list) {
      System.out.print(format == Format.TEXT ? RuleText.list(infos) : json(infos));
      return ExitCode.OK;
    }
    if (files.isEmpty()) {
      throw new UserError("name at least one FILE: a .py file, a .jsonl file, a folder, or -");
    }
    if (facts) {
      System.out.print(json(described()));
      return ExitCode.OK;
    }
    Checks checks =
        new CheckedSources(new StaticCheck(active, policy.policy()), suite, task)
            .check(files, severity);
    if (checks.sources().isEmpty() && checks.problems().size() == 1) {
      throw new UserError(checks.problems().getFirst());
    }
    Problems.print(checks.problems());
    if (checks.sources().isEmpty()) throw new UserError("nothing to check");
    TerminalStream.style(System.out, rendered(checks, infos));
    Problems.recall(checks.problems(), null);
    boolean refused =
        !checks.problems().isEmpty() || checks.sources().stream().anyMatch(Checked::refused);
    return strict && refused ? ExitCode.USAGE : ExitCode.OK;
  }

  private String rendered(Checks checks, List<RuleInfo> infos) {
    return switch (format) {
      case TEXT -> new CheckText(Terminal.columns(), Terminal.colours()).render(checks);
      case JSON -> CheckJson.render(checks, Version.number()) + "\n";
      case SARIF ->
          new Sarif(infos, Version.number(), Path.of("").toAbsolutePath()).render(checks) + "\n";
    };
  }

  private List<DescribedSources.Described> described() throws IOException {
    var sources =
        new DescribedSources(suite, problem -> System.err.println("kbx: " + problem))
            .describe(files);
    if (sources.isEmpty()) throw new UserError("nothing to describe");
    return sources;
  }

  private static String json(List<?> infos) {
    return Json.mapper().writerWithDefaultPrettyPrinter().writeValueAsString(infos) + "\n";
  }
}

package dev.kbx.cli;

import dev.kbx.analysis.BudgetCurve;
import dev.kbx.report.BudgetText;
import dev.kbx.verdict.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kbx analyze budget [RUN…]}: what methods solve within a budget. */
@Command(
    name = "budget",
    description = "Share of tasks that methods solve within a budget of calls, tokens or money.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "For runs of 'kbx run', from their ledgers. Methods and models are shown apart,",
      "at equal budgets for each task. Without RUN: the newest complete run in --out."
    })
final class BudgetCommand implements Callable<Integer> {
  @Parameters(paramLabel = "RUN", arity = "0..*", description = RunReference.HELP)
  private List<String> runs = List.of();

  @Mixin private RunsCommand.Folder folder = new RunsCommand.Folder();

  @Option(names = "--json", description = "Print one JSON document on stdout, nothing else.")
  private boolean json;

  /** A run's curves as JSON. */
  record Curves(String run, List<BudgetCurve> curves) {}

  @Override
  public Integer call() {
    List<String> wanted = runs.isEmpty() ? List.of(folder.out().toString()) : runs;
    List<Curves> all = new ArrayList<>();
    List<String> texts = new ArrayList<>();
    for (RunReference.Found found : RunReference.find(wanted, folder)) {
      List<BudgetCurve> curves = curves(found);
      all.add(new Curves(found.judged().run().id(), curves));
      texts.add(new BudgetText(Terminal.columns()).render(found.judged().run(), curves));
    }
    if (json) {
      System.out.println(
          Json.mapper()
              .writerWithDefaultPrettyPrinter()
              .writeValueAsString(Map.of("kind", "budget", "runs", all)));
    } else {
      System.out.print(String.join("\n", texts));
    }
    return ExitCode.OK;
  }

  private static List<BudgetCurve> curves(RunReference.Found found) {
    Path ledger = Ledgers.file(found.folder(), found.judged().run().id());
    if (!Files.exists(ledger)) {
      throw new UserError(
          "%s: no such ledger, so it is no run of methods; name one of 'kbx run'"
              .formatted(ledger));
    }
    return BudgetCurve.of(LedgerRows.of(ledger, found.judged().rows()));
  }
}

package dev.kbx.cli;

import dev.kbx.analysis.BudgetCurve;
import dev.kbx.document.Document;
import dev.kbx.section.BudgetSection;
import dev.kbx.section.BudgetSection.Curves;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
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

  @Mixin private DocumentFormat format = new DocumentFormat();

  @Override
  public Integer call() {
    List<String> wanted = runs.isEmpty() ? List.of(folder.out().toString()) : runs;
    List<Curves> all =
        RunReference.find(wanted, folder).stream()
            .map(found -> new Curves(found.judged().run().id(), curves(found)))
            .toList();
    format.print(
        AsPublished.among(List.of()),
        Map.of("kind", "budget", "runs", all),
        () ->
            new Document(
                "What methods solve within a budget",
                all.stream().map(BudgetSection::of).toList()));
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

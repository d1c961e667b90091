package dev.kbx.cli;

import dev.kbx.analysis.Portability;
import dev.kbx.document.Block;
import dev.kbx.document.Document;
import dev.kbx.document.Section;
import dev.kbx.report.SpreadFigure;
import dev.kbx.section.PortabilitySection;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code kbx analyze portability RUN…}: the same kernels on several devices. */
@Command(
    name = "portability",
    description = "How speedups of the same kernels differ between devices.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "A kernel is one source for one task; a device is its name and UUID. Those",
      "correct and timed on every device enter; for the others it says why not."
    })
final class PortabilityCommand implements Callable<Integer> {
  @Mixin private AnalyzedRuns runs = new AnalyzedRuns();

  /** Columns of the figure in every medium. */
  private static final int SPREAD = 78;

  @Override
  public Integer call() {
    print(Portability.of(runs.each()), runs.format());
    return ExitCode.OK;
  }

  static void print(Portability portability, DocumentFormat format) {
    format.print(
        DocumentFormat.AsPublished.among(List.of()),
        portability,
        () -> {
          List<Section> sections = new ArrayList<>(List.of(PortabilitySection.of(portability)));
          List<String> spread = new SpreadFigure(SPREAD).lines(portability.kernels());
          if (!spread.isEmpty()) {
            Block drawn = new Block.Source(String.join("\n", spread), "");
            sections.add(new Section("spread", "Speedups on one scale", List.of(drawn)));
          }
          return new Document("The same kernels on several devices", sections);
        });
  }
}

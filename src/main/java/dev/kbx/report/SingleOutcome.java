package dev.kbx.report;

import dev.kbx.document.Text;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.io.Writer;
import java.util.stream.Collectors;

/** What came of a single candidate, as markup. */
record SingleOutcome(RunInfo run, Verdict verdict, boolean timed) {
  void write(Writer writer) throws IOException {
    writer.write("<div class=\"tile\"><h2>Verdict</h2><p class=\"figure\">");
    writer.write(verdict.judgement().status().label() + "</p><p class=\"message\">");
    writer.write(
        verdict.judgement().status() == Status.CORRECT
            ? "passed %s".formatted(stages())
            : "decided by the stage %s".formatted(verdict.judgement().stage().label()));
    String message = Text.cut(Text.clean(verdict.judgement().message()), PageRow.LONGEST_MESSAGE);
    if (!message.isEmpty()) writer.write("<br>" + Html.escape(message));
    writer.write("</p></div>\n<div class=\"tile\"><h2>Speedup</h2>");
    Verdict.Speedup speedup = verdict.judgement().speedup();
    writer.write(
        speedup == null
            ? "<p class=\"figure unknown\">not measured</p></div>\n"
            : "<p class=\"figure\">%s</p><p>%sagainst %s</p></div>\n"
                .formatted(
                    RateText.ratio(speedup.value()),
                    interval(speedup),
                    Html.escape(speedup.baseline())));
  }

  private static String interval(Verdict.Speedup speedup) {
    if (!speedup.hasInterval()) return "";
    return "95 %% interval %.2f–%.2f×<br>".formatted(speedup.low(), speedup.high());
  }

  private String stages() {
    return run.stages().stream()
        .filter(stage -> stage != Stage.PERF || timed)
        .map(Stage::label)
        .collect(Collectors.joining(" → "));
  }
}

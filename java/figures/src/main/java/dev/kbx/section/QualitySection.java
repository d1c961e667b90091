package dev.kbx.section;

import dev.kbx.analysis.CodeQuality;
import dev.kbx.analysis.CodeQuality.TechniqueUse.Use;
import dev.kbx.analysis.Inclusion.Made;
import dev.kbx.analysis.Methods.Unmeasured;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.Counted;
import dev.kbx.document.Section;
import java.util.ArrayList;
import java.util.List;

/** {@link CodeQuality}: complexity against failure, and techniques. */
public final class QualitySection {
  private QualitySection() {}

  public static Section of(CodeQuality quality) {
    Blocks blocks = new Blocks();
    for (Unmeasured each : quality.unmeasured()) {
      blocks.note("%s: not known: %s.", each.outcome().label(), each.why());
    }
    MethodNames names = MethodNames.of(quality.entered());
    complexity(blocks, quality, names);
    techniques(blocks, quality, names);
    return blocks.section("quality", "Code and failure");
  }

  private static void complexity(Blocks blocks, CodeQuality quality, MethodNames names) {
    blocks.table(
        "complexity",
        "Spearman's rho of the size of code with failure, above 0 where more code fails more, with"
            + " its 95 % interval by bootstrap over tasks. call: cannot be called, of all"
            + " candidates; semantic: not correct, of those that can be called. A reference counts"
            + " once, with the share of its candidates that fail.",
        List.of(
            Column.text(
                "complexity",
                each -> "%s, %s".formatted(each.of().label(), each.measure().label())),
            Column.<CodeQuality.ComplexityEffect>text(
                "of", each -> each.maker() == null ? "all" : names.of(each.maker())),
            Column.<CodeQuality.ComplexityEffect>text("failure", each -> each.failure().label()),
            Column.<CodeQuality.ComplexityEffect>number("tasks", each -> Cell.count(each.tasks()))
                .optional(),
            Column.<CodeQuality.ComplexityEffect>number(
                    "candidates", each -> Cell.count(each.candidates()))
                .optional(),
            Column.<CodeQuality.ComplexityEffect>number(
                "rank correlation", each -> Cell.correlation(each.rho(), each.low(), each.high()))),
        quality.complexity().stream().filter(each -> each.candidates() > 0).toList());
    if (quality.withoutReference() > 0) {
      blocks.note(
          "Complexity of the reference is not known for %s: the suite is not here, has changed, or"
              + " has no source of it.",
          Counted.of(quality.withoutReference(), "candidate"));
    }
  }

  private static void techniques(Blocks blocks, CodeQuality quality, MethodNames names) {
    if (quality.techniques().isEmpty()) {
      blocks.note("No optimization technique was seen in a source.");
    }
    List<Column.Of<CodeQuality.TechniqueUse>> columns = new ArrayList<>();
    columns.add(Column.text("technique", each -> each.technique().replace('_', ' ')));
    columns.add(
        Column.number("attempted", each -> Cell.part(each.all().attempted(), each.all().known())));
    columns.add(Column.number("correct", each -> Cell.count(each.all().correct())));
    columns.add(Column.number("faster", each -> Cell.count(each.all().faster())));
    columns.add(Column.number("share correct", each -> share(each.all())));
    List<Made> made = quality.entered().made();
    for (int i = 0; made.size() > 1 && i < made.size(); i++) {
      int index = i;
      columns.add(
          Column.number(
              names.of(made.get(i).method(), made.get(i).model()),
              each -> use(each.makers().get(index).use())));
    }
    blocks.table(
        "techniques",
        "Attempted: seen in the source. The share of correct ones is the mean over tasks. Of each"
            + " method and model: correct of attempted.",
        columns,
        quality.techniques());
    if (quality.withoutFeatures() > 0) {
      blocks.note(
          "Nothing is known of the source of %s, which does not parse or was judged by an earlier"
              + " version.",
          Counted.of(quality.withoutFeatures(), "candidate"));
    }
  }

  private static Cell share(Use use) {
    return Cell.share(use.share(), use.low(), use.high());
  }

  private static Cell use(Use use) {
    return use.attempted() == 0 ? Cell.missing() : Cell.part(use.correct(), use.attempted());
  }
}

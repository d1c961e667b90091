package dev.kbx.section;

import dev.kbx.analysis.Contamination;
import dev.kbx.analysis.Contamination.Alike;
import dev.kbx.analysis.Contamination.Attempt;
import dev.kbx.analysis.Contamination.Copied;
import dev.kbx.analysis.Contamination.Named;
import dev.kbx.analysis.Contamination.Refused;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.Counted;
import dev.kbx.document.Section;
import java.util.List;
import java.util.function.Function;

/** {@link Contamination}: sources alike, text of the task's file, names, what was refused. */
public final class ContaminationSection {
  private static final int ROWS = 60;

  private ContaminationSection() {}

  /** All that was found, or that nothing was. */
  public static Section of(Contamination found) {
    Blocks blocks = new Blocks();
    blocks.prose(
        "%s with %s. %s",
        Counted.of(found.attempts(), "attempt"),
        Counted.of(found.sources(), "source"),
        found.found()
            ? "There are traces of what an attempt should not have seen; a trace is no proof."
            : "There is no trace of what an attempt should not have seen.");
    blocks.first(
        ROWS,
        "alike",
        "Answers that equal or nearly equal a source of another attempt at the task: Jaccard's"
            + " index"
            + " of 8 tokens in a row from %.2f. A model that answers alike does that, too."
                .formatted(Contamination.ALIKE),
        List.of(
            attempt("attempt", Alike::attempt),
            Column.text("source", Alike::ask),
            attempt("other attempt", Alike::other),
            Column.text("its source", Alike::otherAsk),
            Column.number("similarity", each -> Cell.share(each.similarity()))),
        found.alike());
    blocks.first(
        ROWS,
        "copied",
        "Text of the task's file: the reference in an answer, from %.0f %% of it; in a transcript"
                .formatted(100 * Contamination.ALIKE)
            + " what the statement does not say, from %d times 8 tokens in a row."
                .formatted(Contamination.COPIED),
        List.of(
            attempt("attempt", Copied::attempt),
            Column.text("in", Copied::where),
            Column.text("of", Copied::of),
            Column.number("8 tokens in a row", each -> Cell.count(each.shingles())),
            Column.number("share", each -> Cell.share(each.share()))),
        found.copied());
    blocks.first(
        ROWS,
        "named",
        "Names of kbx's folders and of other runs in transcripts. To name is not to reach: what was"
            + " refused is below.",
        List.of(
            attempt("attempt", Named::attempt),
            Column.text("name", Named::name),
            Column.number("lines", each -> Cell.count(each.times())),
            Column.text("first line", Named::line).wrapped()),
        found.named());
    blocks.first(
        ROWS,
        "refused",
        "What agents tried in vain: requests that are not for the run's model, connections that"
            + " lead nowhere, system calls that the sandbox denies. Some programs do that unasked.",
        List.of(
            attempt("attempt", Refused::attempt),
            Column.number("times", each -> Cell.count(each.times())),
            Column.text("what", Refused::what).wrapped()),
        found.refused());
    return blocks.section("contamination", "Contamination");
  }

  private static <T> Column.Of<T> attempt(String head, Function<T, Attempt> of) {
    return Column.text(
        head,
        each -> {
          Attempt attempt = of.apply(each);
          return "%s %s %d".formatted(attempt.method(), attempt.task(), attempt.sample());
        });
  }
}

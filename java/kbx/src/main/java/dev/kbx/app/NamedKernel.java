package dev.kbx.app;

import static java.util.stream.Collectors.joining;

import dev.kbx.analysis.VerdictRow;
import dev.kbx.document.Document;
import dev.kbx.error.InputException;
import dev.kbx.section.KernelDocument;
import dev.kbx.store.RunStore;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** A candidate of a run as named on the command line: by its task, its file or its hash. */
final class NamedKernel {
  /** Digits of a hash that are shown. */
  private static final int SHORT = 12;

  /** The fewest digits of a hash that name a candidate. */
  private static final int FEWEST = 6;

  /** Candidates listed where a name is that of several candidates. */
  private static final int LISTED = 5;

  private NamedKernel() {}

  /**
   * The document about the candidate. Throws {@link InputException} if none or several have that
   * name.
   */
  static Document document(NamedRun.Found found, String name) {
    return document(found, row(found, name, "--candidate"));
  }

  /**
   * The verdict on the candidate, and its source. Throws {@link InputException} as {@link
   * #document} does.
   *
   * @param option by which it was named, for messages
   */
  static Judged judged(NamedRun.Found found, String name, String option) {
    return judged(found, row(found, name, option));
  }

  /** A verdict with the source that it is about. */
  record Judged(Verdict verdict, String source) {}

  private static int row(NamedRun.Found found, String name, String option) {
    RunInfo run = found.judged().run();
    List<VerdictRow> rows = found.judged().rows();
    List<Integer> named = matching(rows, name);
    if (named.stream().map(i -> rows.get(i).candidate()).distinct().count() > 1) {
      throw new InputException(
          "%s %s: names %d candidates of run %s; name one by its file or hash: %s"
              .formatted(option, name, named.size(), run.id(), listed(rows, named)));
    }
    if (named.isEmpty()) {
      throw new InputException(
          "%s %s: no such candidate in run %s; give a task, the path of a file, or %d or more digits of a hash"
              .formatted(option, name, run.id(), FEWEST));
    }
    return named.getFirst();
  }

  /** The document about the candidate of that row. */
  static Document document(NamedRun.Found found, int row) {
    Judged judged = judged(found, row);
    return KernelDocument.of(found.judged().run(), judged.verdict(), judged.source());
  }

  private static Judged judged(NamedRun.Found found, int row) {
    RunInfo run = found.judged().run();
    try (RunStore store = found.place().open()) {
      Verdict verdict = store.verdict(run.id(), positions(store, run).get(row));
      return new Judged(verdict, store.source(verdict.provenance().candidate()).orElse(""));
    }
  }

  /** The position of each row. */
  private static List<Integer> positions(RunStore store, RunInfo run) {
    List<Integer> positions = new ArrayList<>();
    store.forEachRow(run.id(), stored -> positions.add(stored.position()));
    return positions;
  }

  /** Indices of the rows that have the name; what it says of the task counts before the rest. */
  private static List<Integer> matching(List<VerdictRow> rows, String name) {
    List<Predicate<VerdictRow>> ways =
        List.of(
            row -> row.path().equals(name) || row.task().equals(name),
            row -> row.name().equals(name),
            row -> row.source().equals(name),
            row -> name.length() >= FEWEST && row.candidate().startsWith(name));
    for (Predicate<VerdictRow> way : ways) {
      List<Integer> found = new ArrayList<>();
      for (int i = 0; i < rows.size(); i++) if (way.test(rows.get(i))) found.add(i);
      if (!found.isEmpty()) return found;
    }
    return List.of();
  }

  /** The first of each candidate's rows: its file, hash and status. */
  private static String listed(List<VerdictRow> rows, List<Integer> named) {
    Map<String, VerdictRow> first = new LinkedHashMap<>();
    for (int i : named) first.putIfAbsent(rows.get(i).candidate(), rows.get(i));
    String listed =
        first.values().stream()
            .limit(LISTED)
            .map(row ->
                "%s (%s, %s)"
                    .formatted(
                        row.source(),
                        row.candidate().substring(0, Math.min(SHORT, row.candidate().length())),
                        row.status().label()))
            .collect(joining(", "));
    return first.size() > LISTED ? listed + ", …" : listed;
  }
}

package dev.kbx.report;

import dev.kbx.analysis.Causes;
import dev.kbx.analysis.TrajectoryRates;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.files.AtomicFile;
import dev.kbx.verdict.BriefVerdict;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.ObjectWriter;

/**
 * The verdicts of one run for its outputs: all rows in memory, and whole verdicts one at a time. A
 * run of a hundred thousand candidates has 100 MB of verdicts and some 30 MB of rows.
 *
 * <p>Sorted by category, task, sample and round, as every output is.
 */
public final class RunVerdicts {
  /**
   * A verdict's row and its place in the run.
   *
   * @param position of its candidate, from 0; the whole verdict is found by it
   */
  record Entry(int position, VerdictRow row) {}

  /** Pretty-prints, and leaves the target open, as {@link AtomicFile} has to sync it. */
  static final ObjectWriter JSON =
      Json.mapper().writerWithDefaultPrettyPrinter().without(StreamWriteFeature.AUTO_CLOSE_TARGET);

  private static final Comparator<Entry> ORDER =
      Comparator.comparing((Entry entry) -> entry.row().category())
          .thenComparing(entry -> entry.row().task())
          .thenComparingInt(entry -> entry.row().sample())
          .thenComparing(
              entry -> entry.row().round(), Comparator.nullsFirst(Comparator.naturalOrder()))
          .thenComparingInt(Entry::position);

  private final List<Entry> entries;
  private final Causes causes;
  private final IntFunction<Verdict> whole;

  private RunVerdicts(List<Entry> entries, Causes causes, IntFunction<Verdict> whole) {
    this.entries = entries.stream().sorted(ORDER).toList();
    this.causes = causes;
    this.whole = whole;
  }

  /** Verdicts that are in memory, by position. */
  static RunVerdicts of(List<Verdict> verdicts) {
    var reader = new Reader();
    for (int i = 0; i < verdicts.size(); i++) reader.add(i, verdicts.get(i));
    return reader.verdicts(verdicts::get);
  }

  /** Collects the rows of verdicts that are read from a store. */
  public static final class Reader {
    private final List<Entry> entries = new ArrayList<>();
    private final Causes causes = new Causes();

    /** The next one. */
    public void add(int position, Verdict verdict) {
      add(position, BriefVerdict.of(verdict));
    }

    /** The next one, of which no more is needed. */
    public void add(int position, BriefVerdict brief) {
      VerdictRow row = VerdictRow.of(brief);
      entries.add(new Entry(position, row));
      causes.add(row, brief);
    }

    /**
     * All that were added.
     *
     * @param whole reads the verdict at a position
     */
    public RunVerdicts verdicts(IntFunction<Verdict> whole) {
      return new RunVerdicts(entries, causes, whole);
    }
  }

  /**
   * Prints one JSON document, {@code problems}, {@code run} and {@code verdicts} by position, and a
   * line break.
   *
   * @param problems messages about unreadable sources; null to leave out the key
   */
  public void print(PrintStream out, RunInfo run, @Nullable List<String> problems) {
    print(out, run, problems, null);
  }

  /**
   * Prints a run of methods, with what came of each as {@code methods}.
   *
   * @param methods null to leave out the key
   */
  public void print(
      PrintStream out,
      RunInfo run,
      @Nullable List<String> problems,
      @Nullable List<TrajectoryRates> methods) {
    try (JsonGenerator json = JSON.createGenerator(out)) {
      json.writeStartObject();
      if (problems != null) {
        json.writeName("problems");
        JSON.writeValue(json, problems);
      }
      json.writeName("run");
      JSON.writeValue(json, run);
      if (methods != null) {
        json.writeName("methods");
        JSON.writeValue(json, methods);
      }
      json.writeName("verdicts");
      json.writeStartArray();
      entries.stream()
          .mapToInt(Entry::position)
          .sorted()
          .forEach(position -> JSON.writeValue(json, whole.apply(position)));
      json.writeEndArray();
      json.writeEndObject();
    }
    out.println();
  }

  List<Entry> entries() {
    return entries;
  }

  /** Why candidates failed. */
  Causes causes() {
    return causes;
  }

  int size() {
    return entries.size();
  }

  /** All rows, in the order of every output. */
  public List<VerdictRow> rows() {
    return entries.stream().map(Entry::row).toList();
  }

  /** The whole verdict of an entry. */
  Verdict whole(Entry entry) {
    return whole.apply(entry.position());
  }

  List<Verdict> whole(List<Entry> some) {
    return some.stream().map(this::whole).toList();
  }
}

package dev.kbx.report;

import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Provenance;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.SizeTiming;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.ObjectWriter;

/**
 * The verdicts of one run as its outputs read them: of all what is counted, of one at a time the
 * whole. A run of a hundred thousand candidates has 100 MB of verdicts and some 20 MB of outlines.
 *
 * <p>In the order of every output, whatever was judged first: by category, task and sample.
 */
public final class RunVerdicts {
  /**
   * A verdict's place in the run and its outline: category, task, sample, method, status, stage,
   * whether the stages were passed, rule, flags, speedup and baselines. Its one size has the sums
   * of all milliseconds.
   */
  record Row(int position, Verdict outline) {}

  /** Pretty, and leaving what it writes to open: {@link AtomicFile} has yet to sync it. */
  static final ObjectWriter JSON =
      Json.mapper().writerWithDefaultPrettyPrinter().without(StreamWriteFeature.AUTO_CLOSE_TARGET);

  private static final Verdict.Device NO_DEVICE = new Verdict.Device("", "", null, null, null);

  private static final Comparator<Row> ORDER =
      Comparator.comparing((Row row) -> row.outline().category())
          .thenComparing(row -> row.outline().task())
          .thenComparingInt(row -> row.outline().sample())
          .thenComparingInt(Row::position);

  private final List<Row> rows;
  private final IntFunction<Verdict> whole;

  private RunVerdicts(List<Row> rows, IntFunction<Verdict> whole) {
    this.rows = rows.stream().sorted(ORDER).toList();
    this.whole = whole;
  }

  /** Verdicts that are in memory, by position. */
  public static RunVerdicts of(List<Verdict> verdicts) {
    var reader = new Reader();
    for (int i = 0; i < verdicts.size(); i++) reader.add(i, verdicts.get(i));
    return reader.verdicts(verdicts::get);
  }

  /** Takes verdicts as they are read from a store and keeps their outlines. */
  public static final class Reader {
    private final List<Row> rows = new ArrayList<>();
    private final Map<String, String> names = new HashMap<>();

    /** The next one. */
    public void add(int position, Verdict verdict) {
      rows.add(new Row(position, outline(verdict)));
    }

    /**
     * All that were added.
     *
     * @param whole gives the verdict at a position again
     */
    public RunVerdicts verdicts(IntFunction<Verdict> whole) {
      return new RunVerdicts(rows, whole);
    }

    private Verdict outline(Verdict v) {
      return new Verdict(
          new Provenance(
              name(v.run()),
              "",
              "",
              name(v.suite()),
              name(v.task()),
              name(v.category()),
              v.sample(),
              v.method() == null ? null : name(v.method()),
              v.model() == null ? null : name(v.model()),
              v.round()),
          new Judgement(
              v.status(),
              v.stage(),
              v.callOk(),
              v.exeOk(),
              v.perfOk(),
              null,
              v.rule() == null ? null : name(v.rule()),
              v.evidence() == null ? null : "",
              v.flags().stream().map(this::name).toList(),
              v.speedup(),
              total(v.sizes()),
              v.baselines(),
              null,
              null,
              null,
              null,
              null,
              null,
              v.origin() == null ? null : new Verdict.Origin(v.origin().kernelShare(), List.of()),
              null,
              null,
              NO_DEVICE,
              Map.of(),
              Map.of()));
    }

    /** One text for all that are equal. */
    private String name(String text) {
      return names.computeIfAbsent(text, same -> same);
    }

    private static @Nullable List<SizeTiming> total(@Nullable List<SizeTiming> sizes) {
      if (sizes == null || sizes.isEmpty()) return sizes;
      double candidate = sizes.stream().mapToDouble(SizeTiming::candidateMs).sum();
      double reference = sizes.stream().mapToDouble(SizeTiming::referenceMs).sum();
      double ratio = reference / candidate;
      return List.of(
          new SizeTiming(
              "", candidate, reference, ratio, ratio, ratio, null, null, null, null, 0, null, null,
              null, null, null, null, null, null));
    }
  }

  /**
   * Prints one JSON document, {@code problems}, {@code run} and {@code verdicts} by position, and a
   * line break.
   *
   * @param problems what could not be read; null where the document has no such key
   */
  public void print(PrintStream out, RunInfo run, @Nullable List<String> problems) {
    try (JsonGenerator json = JSON.createGenerator(out)) {
      json.writeStartObject();
      if (problems != null) {
        json.writeName("problems");
        JSON.writeValue(json, problems);
      }
      json.writeName("run");
      JSON.writeValue(json, run);
      json.writeName("verdicts");
      json.writeStartArray();
      rows.stream()
          .mapToInt(Row::position)
          .sorted()
          .forEach(position -> JSON.writeValue(json, whole.apply(position)));
      json.writeEndArray();
      json.writeEndObject();
    }
    out.println();
  }

  List<Row> rows() {
    return rows;
  }

  int size() {
    return rows.size();
  }

  /** All outlines, in the order of every output. */
  public List<Verdict> outlines() {
    return rows.stream().map(Row::outline).toList();
  }

  /** A verdict with everything that is known. */
  Verdict whole(Row row) {
    return whole.apply(row.position());
  }

  List<Verdict> whole(List<Row> some) {
    return some.stream().map(this::whole).toList();
  }
}

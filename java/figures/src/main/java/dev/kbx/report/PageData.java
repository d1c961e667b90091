package dev.kbx.report;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import dev.kbx.analysis.FastP;
import dev.kbx.analysis.MethodAndModel;
import dev.kbx.analysis.SelectedTasks;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.verdict.BriefVerdict.Efficiency;
import dev.kbx.verdict.BriefVerdict.Sizes;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Break;
import dev.kbx.verdict.Verdict.SizeTiming;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.StreamWriteFeature;
import tools.jackson.databind.ObjectWriter;

/**
 * The candidates of a page as JSON for its script: a short row of each, and the details of {@value
 * #CHUNK} at a time, packed, as most are never looked at.
 *
 * @param makers methods and models, which rows name by number
 * @param speed null if nothing was timed
 */
record PageData(
    List<RunVerdicts.Entry> shown,
    RunVerdicts verdicts,
    List<MethodAndModel> makers,
    Function<Verdict, String> sourceOf,
    List<Trajectory> trajectories,
    @Nullable Speed speed) {
  /** Candidates of one chunk of details. */
  private static final int CHUNK = 50;

  /** Characters of packed details in one page; sources beyond them are left out. */
  private static final int MOST_PACKED = 10 << 20;

  /** Maximum characters of one source in the page, for a responsive browser. */
  private static final int LONGEST_SOURCE = 100_000;

  private static final ObjectWriter JSON =
      Json.mapper()
          .writer()
          .with(new Html.ScriptEscapes())
          .without(StreamWriteFeature.AUTO_CLOSE_TARGET);

  /** The writer of details: rounds would be a large part of a page that does not show them. */
  private static final ObjectWriter PLAIN =
      Json.mapper()
          .rebuild()
          .addMixIn(Verdict.SizeTiming.class, WithoutRounds.class)
          .addMixIn(Verdict.Baseline.class, WithoutRounds.class)
          .build()
          .writer();

  @JsonIgnoreProperties("raw")
  private interface WithoutRounds {}

  /** Input of the script. */
  record Page(int chunk, List<MethodAndModel> makers, @Nullable Speed speed, List<Row> rows) {}

  /**
   * Details of some candidates.
   *
   * @param sources by candidate hash; absent if left out
   * @param changes what a round changed, by its place in {@code verdicts}
   */
  record Chunk(
      List<Verdict> verdicts,
      Map<String, String> sources,
      Map<Integer, RoundChange> changes,
      List<Trajectory> trajectories) {}

  private record Key(@Nullable String method, String task, int sample) {}

  /** Writes the rows, for a script element. */
  void writeRows(Writer writer) throws IOException {
    List<String> ids = Anchors.of(shown.stream().map(RunVerdicts.Entry::row).toList());
    Map<MethodAndModel, Integer> numbers = new TreeMap<>();
    for (MethodAndModel maker : makers) numbers.put(maker, numbers.size());
    List<Row> rows = new ArrayList<>(shown.size());
    for (int i = 0; i < shown.size(); i++) {
      VerdictRow row = shown.get(i).row();
      Verdict verdict = verdicts.whole(shown.get(i));
      Integer maker = numbers.get(new MethodAndModel(row.method(), row.model()));
      rows.add(Row.of(verdict, row, ids.get(i), maker == null ? 0 : maker));
    }
    JSON.writeValue(writer, new Page(CHUNK, makers, speed, rows));
  }

  /** The details, with sources and prompts until they take too much room. */
  Details details() {
    Map<Key, Trajectory> written = new LinkedHashMap<>();
    for (Trajectory t : trajectories) written.put(new Key(t.method(), t.task(), t.sample()), t);
    RoundChange.Finder changes = new RoundChange.Finder(verdicts, sourceOf);
    List<String> chunks = new ArrayList<>();
    long size = 0;
    int without = 0;
    for (int from = 0; from < shown.size(); from += CHUNK) {
      List<RunVerdicts.Entry> some = shown.subList(from, Math.min(from + CHUNK, shown.size()));
      boolean full = size >= MOST_PACKED;
      if (full) without += some.size();
      String packed = Packed.of(PLAIN.writeValueAsString(chunk(some, written, changes, full)));
      size += packed.length();
      chunks.add(packed);
    }
    return new Details(List.copyOf(chunks), without);
  }

  private Chunk chunk(
      List<RunVerdicts.Entry> some,
      Map<Key, Trajectory> written,
      RoundChange.Finder changes,
      boolean full) {
    List<Verdict> whole = verdicts.whole(some);
    Chunk chunk = new Chunk(whole, new TreeMap<>(), new TreeMap<>(), new ArrayList<>());
    if (full) return chunk;
    for (int i = 0; i < some.size(); i++) {
      VerdictRow row = some.get(i).row();
      Verdict verdict = whole.get(i);
      chunk.sources().computeIfAbsent(row.candidate(), _ -> shortened(sourceOf.apply(verdict)));
      RoundChange change = changes.of(some.get(i));
      if (change != null) chunk.changes().put(i, change);
      Trajectory trajectory = written.get(new Key(row.method(), row.path(), row.sample()));
      if (trajectory != null && !chunk.trajectories().contains(trajectory)) {
        chunk.trajectories().add(trajectory);
      }
    }
    return chunk;
  }

  private static String shortened(String source) {
    if (source.length() <= LONGEST_SOURCE) return source;
    return "%s\n… %,d more characters are not shown"
        .formatted(source.substring(0, LONGEST_SOURCE), source.length() - LONGEST_SOURCE);
  }

  /**
   * What a round of a refinement changed.
   *
   * @param round the one before
   * @param status of the candidate before
   * @param message what was found about it
   * @param diff unified, without the names; empty if both are equal; null if one of the kernels is
   *     not published
   */
  record RoundChange(int round, String status, @Nullable String message, @Nullable String diff) {
    private record Attempt(
        String path, @Nullable String method, @Nullable String model, int sample) {}

    /** Finds the candidate of the round before. */
    static final class Finder {
      private final Map<Attempt, TreeMap<Integer, RunVerdicts.Entry>> attempts = new HashMap<>();
      private final RunVerdicts verdicts;
      private final Function<Verdict, String> sourceOf;

      Finder(RunVerdicts verdicts, Function<Verdict, String> sourceOf) {
        this.verdicts = verdicts;
        this.sourceOf = sourceOf;
        for (RunVerdicts.Entry entry : verdicts.entries()) {
          Integer round = entry.row().round();
          if (round == null) continue;
          attempts.computeIfAbsent(attempt(entry.row()), _ -> new TreeMap<>()).put(round, entry);
        }
      }

      private static Attempt attempt(VerdictRow row) {
        return new Attempt(row.path(), row.method(), row.model(), row.sample());
      }

      /** Null if there is no round before. */
      @Nullable RoundChange of(RunVerdicts.Entry entry) {
        Integer round = entry.row().round();
        TreeMap<Integer, RunVerdicts.Entry> rounds = attempts.get(attempt(entry.row()));
        if (round == null || rounds == null) return null;
        Map.Entry<Integer, RunVerdicts.Entry> before = rounds.lowerEntry(round);
        if (before == null) return null;
        Verdict then = verdicts.whole(before.getValue());
        String diff = diff(then, verdicts.whole(entry));
        return new RoundChange(
            before.getKey(), then.judgement().status().label(), then.judgement().message(), diff);
      }

      private @Nullable String diff(Verdict then, Verdict now) {
        if (then.provenance().candidate().isEmpty() || now.provenance().candidate().isEmpty())
          return null;
        return new LineDiff(sourceOf.apply(then), sourceOf.apply(now)).hunks();
      }
    }
  }

  /**
   * The details of a page's candidates, packed.
   *
   * @param without number of candidates whose sources and prompts are left out, as the page would
   *     be too large
   */
  record Details(List<String> chunks, int without) {
    /** Writes each chunk as a script element of data. */
    void write(Writer writer) throws IOException {
      for (int i = 0; i < chunks.size(); i++) {
        writer.write("<script type=\"text/plain\" id=\"chunk-%d\">".formatted(i));
        writer.write(chunks.get(i));
        writer.write("</script>\n");
      }
    }
  }

  /** Text for a page, as gzip in base64: the page's script unpacks it when it is needed. */
  static final class Packed {
    private Packed() {}

    static String of(String text) {
      var bytes = new ByteArrayOutputStream();
      try (var gzip = new Best(bytes)) {
        // A lone surrogate becomes a question mark, as in the rest of the page.
        gzip.write(text.getBytes(StandardCharsets.UTF_8));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      return Base64.getEncoder().encodeToString(bytes.toByteArray());
    }

    private static final class Best extends GZIPOutputStream {
      Best(ByteArrayOutputStream out) throws IOException {
        super(out);
        def.setLevel(Deflater.BEST_COMPRESSION);
      }
    }
  }

  /**
   * What the page's charts of speed show beside its rows.
   *
   * @param baseline of the speedups
   * @param curves fast_p of each method and model; none where only changes were published
   * @param bandwidth peak of the device in 10⁹ bytes a second; null if not known
   * @param rates peaks in 10¹² operations a second, one for each precision that was timed
   */
  record Speed(
      String baseline, List<Curve> curves, @Nullable Double bandwidth, List<Double> rates) {
    /** Peaks of so many precisions are drawn. */
    private static final int MOST_RATES = 3;

    /** Peaks that differ by less are one, measured twice. */
    private static final double SAME = 0.05;

    /**
     * A step function: each point holds up to the next.
     *
     * @param maker index into the page's methods and models
     * @param points threshold, share, lower and upper end of its 95 % interval
     */
    record Curve(int maker, List<List<Double>> points) {}

    /** Null if nothing was timed. */
    static @Nullable Speed of(
        RunInfo run,
        RunVerdicts verdicts,
        List<RunVerdicts.Entry> shown,
        SelectedTasks asked,
        List<MethodAndModel> makers) {
      boolean timed = verdicts.rows().stream().anyMatch(row -> row.correctSpeedup() != null);
      if (!timed) return null;
      List<Curve> curves = run.ofChanges() ? List.of() : curves(run, verdicts, asked, makers);
      List<SizeTiming> sizes = sizes(shown, verdicts);
      return new Speed(run.baseline(), curves, bandwidth(sizes), rates(sizes));
    }

    private static List<Curve> curves(
        RunInfo run, RunVerdicts verdicts, SelectedTasks asked, List<MethodAndModel> makers) {
      List<Curve> curves = new ArrayList<>();
      MethodAndModel.group(verdicts.rows())
          .forEach((maker, rows) -> {
            List<FastP.Point> curve = FastP.curve(rows, asked, run.baseline());
            if (curve != null) curves.add(new Curve(makers.indexOf(maker), points(curve)));
          });
      return curves;
    }

    private static List<List<Double>> points(List<FastP.Point> curve) {
      return curve.stream()
          .map(at -> Stream.of(at.p(), at.share(), at.low(), at.high()))
          .map(point -> point.filter(Objects::nonNull).toList())
          .filter(point -> point.size() == 4) // Without tasks there are no shares.
          .toList();
    }

    private static List<SizeTiming> sizes(List<RunVerdicts.Entry> shown, RunVerdicts verdicts) {
      List<SizeTiming> all = new ArrayList<>();
      for (RunVerdicts.Entry entry : shown) {
        List<SizeTiming> own =
            entry.row().sizes() == null ? null : verdicts.whole(entry).judgement().sizes();
        if (own != null) all.addAll(own);
      }
      return all;
    }

    /** The peak by which shares of the bandwidth were made. */
    private static @Nullable Double bandwidth(List<SizeTiming> sizes) {
      double[] peaks =
          sizes.stream()
              .filter(size -> size.gbs() != null && size.iou() != null && size.iou() > 0)
              .mapToDouble(size -> size.gbs() / size.iou())
              .sorted()
              .toArray();
      return peaks.length == 0 ? null : peaks[peaks.length / 2];
    }

    private static List<Double> rates(List<SizeTiming> sizes) {
      List<Double> peaks = new ArrayList<>();
      sizes.stream()
          .filter(size -> size.tflops() != null && size.mfu() != null && size.mfu() > 0)
          .map(size -> size.tflops() / size.mfu())
          .sorted((a, b) -> Double.compare(b, a))
          .forEach(peak -> {
            if (peaks.isEmpty() || peak < peaks.getLast() * (1 - SAME)) peaks.add(peak);
          });
      return peaks.subList(0, Math.min(peaks.size(), MOST_RATES));
    }
  }

  /**
   * What addresses call the candidates of a page: {@code Math/exp#1}, with method and model if
   * there are several of them, and the round if it is stated. No two candidates have the same name.
   */
  static final class Anchors {
    private final boolean several;
    private final Set<String> used = new HashSet<>();
    private final Map<String, Integer> repeated = new HashMap<>();

    private Anchors(boolean several) {
      this.several = several;
    }

    /** Names of rows, in their order. */
    static List<String> of(List<VerdictRow> rows) {
      Anchors anchors = new Anchors(rows.stream().map(Anchors::maker).distinct().count() > 1);
      List<String> names = new ArrayList<>(rows.size());
      for (VerdictRow row : rows) names.add(anchors.unique(anchors.name(row)));
      return names;
    }

    private String name(VerdictRow row) {
      String made = several ? "@" + maker(row) : "";
      return row.name() + made + (row.round() == null ? "" : ",round " + row.round());
    }

    private String unique(String name) {
      String free = name;
      while (!used.add(free))
        free = name + " (" + (repeated.merge(name, 1, Integer::sum) + 1) + ")";
      return free;
    }

    private static String maker(VerdictRow row) {
      return Stream.of(row.method(), row.model())
          .filter(Objects::nonNull)
          .collect(Collectors.joining(" "));
    }
  }

  /**
   * One line of the page's table of candidates: all that it is sorted, searched and filtered by.
   *
   * @param id what addresses call it
   * @param task {@code Category/name}
   * @param maker index into the page's methods and models
   * @param seconds of all stages; null if none is known
   * @param speedup value, lower and upper end of its 95 % interval; the value alone if there is no
   *     interval; null without one
   * @param roof operations for each byte and 10¹² operations a second, at the size that takes the
   *     reference longest; null if one is not known
   * @param reason why it ended so, in a line or two
   */
  record Row(
      String id,
      String task,
      int sample,
      @Nullable Integer round,
      int maker,
      String source,
      String status,
      String stage,
      @Nullable Double seconds,
      @Nullable List<Double> speedup,
      @Nullable List<Double> roof,
      String reason) {
    /** Maximum characters of a message; the details have the full one. */
    static final int LONGEST_MESSAGE = 400;

    static Row of(Verdict verdict, VerdictRow row, String id, int maker) {
      Verdict.Speedup speedup = row.correct() ? row.speedup() : null;
      return new Row(
          id,
          row.path(),
          row.sample(),
          row.round(),
          maker,
          row.source(),
          row.status().label(),
          verdict.judgement().stage().label(),
          verdict.judgement().seconds().isEmpty() ? null : round(sum(verdict)),
          speedup == null ? null : figures(speedup),
          roof(row.sizes()),
          reason(verdict));
    }

    private static List<Double> figures(Verdict.Speedup speedup) {
      if (!speedup.hasInterval()) return List.of(round(speedup.value()));
      return List.of(round(speedup.value()), round(speedup.low()), round(speedup.high()));
    }

    private static double sum(Verdict verdict) {
      return verdict.judgement().seconds().values().stream().mapToDouble(Double::doubleValue).sum();
    }

    /** Rounds to as many digits as a table or a chart shows. */
    private static double round(double value) {
      return Math.round(value * 1e4) / 1e4;
    }

    private static @Nullable List<Double> roof(@Nullable Sizes sizes) {
      Efficiency largest = sizes == null ? null : sizes.largest();
      if (largest == null) return null;
      Double intensity = largest.intensity();
      Double tflops = largest.tflops();
      return intensity == null || tflops == null ? null : List.of(intensity, tflops);
    }

    private static String reason(Verdict verdict) {
      List<String> parts = new ArrayList<>();
      add(
          parts,
          verdict.judgement().rule() == null
              ? verdict.judgement().evidence()
              : verdict.judgement().rule());
      add(parts, cut(Judgement.findingFirst(verdict.judgement().message())));
      List<Break> breaks = verdict.judgement().breaks();
      if (verdict.judgement().status() == Status.CORRECT && breaks != null && !breaks.isEmpty()) {
        parts.add(
            "breaks on " + breaks.stream().map(Break::property).collect(Collectors.joining(", ")));
      }
      List<String> flags = Notes.flags(verdict);
      String flagged = flags.isEmpty() ? "" : " [" + String.join(", ", flags) + "]";
      return (String.join(": ", parts) + flagged).strip();
    }

    private static void add(List<String> parts, @Nullable String part) {
      if (part != null && !part.isEmpty()) parts.add(part);
    }

    private static @Nullable String cut(@Nullable String message) {
      if (message == null || message.length() <= LONGEST_MESSAGE) return message;
      return message.substring(0, LONGEST_MESSAGE) + "…";
    }
  }
}

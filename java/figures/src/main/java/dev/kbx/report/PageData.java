package dev.kbx.report;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import dev.kbx.analysis.MethodAndModel;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.io.Writer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
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
    @Nullable PageSpeed speed) {
  /** Candidates of one chunk of details. */
  private static final int CHUNK = 50;

  /** Characters of packed details in one page; sources beyond them are left out. */
  private static final int MOST_PACKED = 10 << 20;

  /** Maximum characters of one source in the page, for a responsive browser. */
  private static final int LONGEST_SOURCE = 100_000;

  private static final ObjectWriter JSON =
      Json.mapper()
          .writer()
          .with(new ScriptEscapes())
          .without(StreamWriteFeature.AUTO_CLOSE_TARGET);

  /** Of details: rounds would be a large part of a page that does not show them. */
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
  record Page(
      int chunk, List<MethodAndModel> makers, @Nullable PageSpeed speed, List<PageRow> rows) {}

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
    List<PageRow> rows = new ArrayList<>(shown.size());
    for (int i = 0; i < shown.size(); i++) {
      VerdictRow row = shown.get(i).row();
      Verdict verdict = verdicts.whole(shown.get(i));
      Integer maker = numbers.get(new MethodAndModel(row.method(), row.model()));
      rows.add(PageRow.of(verdict, row, ids.get(i), maker == null ? 0 : maker));
    }
    JSON.writeValue(writer, new Page(CHUNK, makers, speed, rows));
  }

  /** The details, with sources and prompts until they take too much room. */
  PageDetails details() {
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
    return new PageDetails(List.copyOf(chunks), without);
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
}

package dev.kbx.store;

import dev.kbx.verdict.BriefVerdict;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.SourceFeatures;
import dev.kbx.verdict.Verdict;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The columns of the table of verdicts, which all but the first two derive from the body. */
final class VerdictColumns {
  /** In the order of {@link #of}. */
  static final List<String> NAMES =
      List.of(
          "run",
          "position",
          "body",
          "identity",
          "candidate",
          "suite",
          "category",
          "task",
          "method",
          "model",
          "sample",
          "round",
          "status",
          "stage",
          "device",
          "speedup",
          "speedup_low",
          "speedup_high",
          "baseline",
          "grade",
          "call_ok",
          "exe_ok",
          "published_ok",
          "general_ok",
          "conditions",
          "structure",
          "complexity",
          "techniques",
          "brief");

  /** Those whose text the database may not take as it is. */
  static final List<String> ENCODED = List.of("identity", "method", "model");

  /** A statement that inserts a row; its parameters are in the order of the names. */
  static final String INSERT =
      NAMES.stream()
          .map(_ -> "?")
          .collect(
              Collectors.joining(
                  ", ", "INSERT INTO verdict (" + String.join(", ", NAMES) + ") VALUES (", ")"));

  private VerdictColumns() {}

  /** The row of a verdict, by column. */
  static Map<String, @Nullable Object> of(Database database, int position, Verdict verdict) {
    Map<String, @Nullable Object> row = new LinkedHashMap<>();
    row.put("run", verdict.provenance().run());
    row.put("position", position);
    row.put("body", Json.mapper().writeValueAsString(verdict));
    row.put("identity", database.stored(verdict.provenance().identity().text()));
    row.put("candidate", verdict.provenance().candidate());
    row.put("suite", verdict.provenance().suite());
    row.put("category", verdict.provenance().category());
    row.put("task", verdict.provenance().task());
    row.put("method", stored(database, verdict.provenance().method()));
    row.put("model", stored(database, verdict.provenance().model()));
    row.put("sample", verdict.provenance().sample());
    row.put("round", verdict.provenance().round());
    row.put("status", verdict.judgement().status().label());
    row.put("stage", verdict.judgement().stage().label());
    row.put("device", verdict.judgement().device().name());
    Verdict.Speedup speedup = verdict.judgement().speedup();
    row.put("speedup", speedup == null ? null : (Double) speedup.value());
    row.put("speedup_low", speedup == null ? null : (Double) speedup.low());
    row.put("speedup_high", speedup == null ? null : (Double) speedup.high());
    row.put("baseline", speedup == null ? null : speedup.baseline());
    row.put("grade", verdict.judgement().grade());
    row.put("call_ok", number(verdict.judgement().callOk()));
    row.put("exe_ok", number(verdict.judgement().exeOk()));
    row.put("published_ok", number(verdict.judgement().publishedOk()));
    row.put("general_ok", number(verdict.judgement().generalOk()));
    row.put("conditions", conditions(verdict));
    SourceFeatures features = verdict.judgement().features();
    row.put("structure", features == null ? null : features.structure());
    row.put("complexity", features == null ? null : (Integer) features.complexity());
    row.put("techniques", features == null ? null : String.join(",", features.techniques()));
    row.put("brief", Json.mapper().writeValueAsString(BriefVerdict.of(verdict)));
    return row;
  }

  private static @Nullable String stored(Database database, @Nullable String text) {
    return text == null ? null : database.stored(text);
  }

  private static @Nullable Integer number(@Nullable Boolean known) {
    return known == null ? null : known ? 1 : 0;
  }

  private static @Nullable String conditions(Verdict verdict) {
    Map<String, String> conditions = verdict.provenance().conditions();
    return conditions.isEmpty() ? null : Json.mapper().writeValueAsString(conditions);
  }
}

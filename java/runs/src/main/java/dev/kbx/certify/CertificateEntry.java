package dev.kbx.certify;

import dev.kbx.verdict.Json;
import dev.kbx.verdict.Verdict;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A verdict in a certificate.
 *
 * @param rounds of each size, in the order of the verdict's; a size without any has none
 * @param compiled of each baseline, in the order of the verdict's, those of each size, the compiled
 *     reference beside eager; a baseline without any has none
 * @param code its source; null if the certificate has none
 */
public record CertificateEntry(
    Verdict verdict,
    List<List<List<Double>>> rounds,
    List<List<List<List<Double>>>> compiled,
    @Nullable String code) {
  static CertificateEntry of(JsonNode json) {
    JsonNode node = json.get(CertificateWriter.VERDICT);
    Verdict verdict = Json.mapper().treeToValue(node, Verdict.class);
    List<List<List<Double>>> rounds = new ArrayList<>();
    for (JsonNode size : node.path("sizes")) rounds.add(rows(size.path(CertificateWriter.ROUNDS)));
    List<List<List<List<Double>>>> compiled = new ArrayList<>();
    for (JsonNode baseline : node.path(CertificateWriter.BASELINES)) {
      List<List<List<Double>>> sizes = new ArrayList<>();
      for (JsonNode size : baseline.path(CertificateWriter.ROUNDS)) sizes.add(rows(size));
      compiled.add(sizes);
    }
    JsonNode code = json.get(CertificateWriter.CODE);
    return new CertificateEntry(
        verdict, rounds, compiled, code == null ? null : code.stringValue());
  }

  private static List<List<Double>> rows(JsonNode rounds) {
    List<List<Double>> rows = new ArrayList<>();
    for (JsonNode row : rounds) {
      rows.add(row.values().stream().map(JsonNode::doubleValue).toList());
    }
    return rows;
  }

  /** Whether each of its sizes has rounds; false without sizes. */
  boolean hasRounds() {
    return !rounds.isEmpty() && rounds.stream().noneMatch(List::isEmpty);
  }

  /** The task and sample, for messages. */
  public String name() {
    return "%s/%s#%d"
        .formatted(
            verdict.provenance().category(),
            verdict.provenance().task(),
            verdict.provenance().sample());
  }
}

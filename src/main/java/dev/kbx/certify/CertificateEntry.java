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
 * @param code its source; null if the certificate has none
 */
public record CertificateEntry(
    Verdict verdict, List<List<List<Double>>> rounds, @Nullable String code) {
  static CertificateEntry of(JsonNode json) {
    Verdict verdict = Json.mapper().treeToValue(json.get(CertificateWriter.VERDICT), Verdict.class);
    List<List<List<Double>>> rounds = new ArrayList<>();
    for (JsonNode size : json.get(CertificateWriter.VERDICT).path("sizes")) {
      List<List<Double>> rows = new ArrayList<>();
      for (JsonNode row : size.path(CertificateWriter.ROUNDS)) {
        rows.add(row.values().stream().map(JsonNode::doubleValue).toList());
      }
      rounds.add(rows);
    }
    JsonNode code = json.get(CertificateWriter.CODE);
    return new CertificateEntry(verdict, rounds, code == null ? null : code.stringValue());
  }

  /** Whether each of its sizes has rounds; false without sizes. */
  boolean hasRounds() {
    return !rounds.isEmpty() && rounds.stream().noneMatch(List::isEmpty);
  }

  /** The task and sample, for messages. */
  public String name() {
    return "%s/%s#%d".formatted(verdict.category(), verdict.task(), verdict.sample());
  }
}

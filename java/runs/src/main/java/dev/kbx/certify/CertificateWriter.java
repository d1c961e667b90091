package dev.kbx.certify;

import dev.kbx.timing.RawRounds;
import dev.kbx.verdict.Json;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import org.apache.commons.codec.digest.DigestUtils;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Writes a certificate: a JSON object a line. First the {@link CertificateHeader}, then each
 * verdict, last the {@link Seal} over all before it.
 */
public final class CertificateWriter {
  static final String VERDICT = "verdict";
  static final String CODE = "code";
  static final String SEAL = "seal";

  /**
   * The rounds of a size, or those of each size of a compiled reference, in place of the text that
   * a verdict has.
   */
  static final String ROUNDS = "round_values";

  static final String BASELINES = "baselines";

  private static final String RAW = "raw";

  private final Writer writer;
  private final MessageDigest digest = DigestUtils.getSha256Digest();

  public CertificateWriter(Writer writer, CertificateHeader header) throws IOException {
    this.writer = writer;
    line(Json.mapper().writeValueAsString(header));
  }

  /**
   * Adds a verdict.
   *
   * @param json as stored
   * @param code its source; null to leave it out
   */
  public void add(String json, @Nullable String code) throws IOException {
    ObjectNode verdict = (ObjectNode) Json.mapper().readTree(json);
    for (JsonNode size : verdict.path("sizes")) expand((ObjectNode) size);
    for (JsonNode baseline : verdict.path(BASELINES)) expand((ObjectNode) baseline);
    ObjectNode entry = Json.mapper().createObjectNode();
    entry.set(VERDICT, verdict);
    if (code != null) entry.put(CODE, code);
    line(Json.mapper().writeValueAsString(entry));
  }

  private static void expand(ObjectNode timed) {
    JsonNode raw = timed.remove(RAW);
    if (raw == null) return;
    ArrayNode rounds = timed.putArray(ROUNDS);
    if (raw.isArray()) raw.forEach(size -> expand(size.asString(), rounds.addArray()));
    else expand(raw.asString(), rounds);
  }

  private static void expand(String raw, ArrayNode rounds) {
    for (List<Double> round : RawRounds.rows(raw)) {
      ArrayNode values = rounds.addArray();
      round.forEach(values::add);
    }
  }

  /** Signs what was written; nothing may be added after it. */
  public void seal(SigningKey key) throws IOException {
    Seal seal = Seal.of(key, HexFormat.of().formatHex(digest.digest()));
    ObjectNode entry = Json.mapper().createObjectNode();
    entry.set(SEAL, Json.mapper().valueToTree(seal));
    writer.write(Json.mapper().writeValueAsString(entry));
    writer.write('\n');
  }

  private void line(String json) throws IOException {
    String line = json + "\n";
    digest.update(line.getBytes(StandardCharsets.UTF_8));
    writer.write(line);
  }
}

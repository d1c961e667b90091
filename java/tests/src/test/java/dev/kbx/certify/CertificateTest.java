package dev.kbx.certify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.SimulatedRun;
import dev.kbx.stats.LogMean;
import dev.kbx.stats.Ratio;
import dev.kbx.timing.RawRounds;
import dev.kbx.timing.RawRounds.Figures;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.apache.commons.codec.digest.DigestUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** A certificate holds as it was signed, and in no other form. */
class CertificateTest {
  private static final SigningKey KEY = SigningKey.of(SigningKey.generate());
  private static final String CODE = "def gelu(input): return input\n";

  @TempDir private Path folder;

  /** The rounds of a size, in the form that a verdict keeps. */
  private static String raw(double candidateMs, double referenceMs) {
    return raw(candidateMs, referenceMs, 0);
  }

  /** The same; in so many of the eight rounds the device may have waited for the host. */
  private static String raw(double candidateMs, double referenceMs, int hostBound) {
    ByteBuffer bytes = ByteBuffer.allocate(8 * 25);
    for (int i = 0; i < 8; i++) {
      double noise = 1 + 0.001 * ((i * 5) % 7);
      bytes.putDouble(candidateMs * noise).putDouble(referenceMs / noise).putDouble(1e-5);
      bytes.put((byte) (i % 2 + (i < hostBound ? 2 : 0)));
    }
    return Base64.getEncoder().encodeToString(bytes.array());
  }

  /** A simulated verdict whose figures follow from rounds. */
  private static String verdict(Double... weights) {
    SimulatedRun run = SimulatedRun.on(SimulatedRun.H200, 1).correct("Activation/gelu", CODE, 1.5);
    ObjectNode json = Json.mapper().valueToTree(run.verdicts().getFirst());
    List<LogMean> all = new ArrayList<>();
    double ms = 0.1;
    for (JsonNode size : json.get("sizes")) {
      if (weights.length > 0) ((ObjectNode) size).put("weight", weights[all.size()]);
      String raw = raw(ms, (1.5 + all.size()) * ms);
      ms *= 2;
      Figures figures = RawRounds.figures(RawRounds.rows(raw));
      all.add(figures.log());
      ((ObjectNode) size).put("raw", raw).put("candidate_ms", figures.candidateMs());
      ((ObjectNode) size).put("reference_ms", figures.referenceMs());
      ((ObjectNode) size).put("speedup", figures.speedup().value());
      ((ObjectNode) size).put("low", figures.speedup().low());
      ((ObjectNode) size).put("high", figures.speedup().high()).put("rounds", figures.rounds());
    }
    Ratio mean = RawRounds.speedup(all, null);
    Ratio speedup = weights.length == 0 ? mean : RawRounds.speedup(all, List.of(weights));
    ObjectNode whole = json.putObject("speedup").put("baseline", "eager");
    whole.put("value", speedup.value()).put("low", speedup.low()).put("high", speedup.high());
    ObjectNode eager = json.putArray("baselines").addObject().put("name", "eager");
    eager.put("speedup", speedup.value()).put("low", speedup.low()).put("high", speedup.high());
    if (weights.length > 0) {
      ObjectNode beside = eager.putObject("geometric").put("value", mean.value());
      beside.put("low", mean.low()).put("high", mean.high());
    }
    json.put("candidate", DigestUtils.sha256Hex(CODE));
    return Json.mapper().writeValueAsString(json);
  }

  private static List<String> signed(SigningKey key, String... verdicts) throws Exception {
    RunInfo run = SimulatedRun.on(SimulatedRun.H200, 1).info();
    CertificateHeader.Counts counts = CertificateHeader.Counts.NONE;
    for (String json : verdicts) {
      counts = counts.and(Json.mapper().readValue(json, Verdict.class));
    }
    StringWriter text = new StringWriter();
    CertificateWriter writer =
        new CertificateWriter(
            text, CertificateHeader.of("1", run, Map.of("Activation/gelu", "0123"), counts, true));
    for (String json : verdicts) writer.add(json, CODE);
    writer.seal(key);
    return text.toString().lines().toList();
  }

  private CertificateCheck check(List<String> lines) throws Exception {
    Path file = folder.resolve("certificate.kbx");
    Files.writeString(file, String.join("\n", lines) + "\n");
    return CertificateCheck.of(file, _ -> {});
  }

  private boolean holds(List<String> lines) throws Exception {
    try {
      return check(lines).holds();
    } catch (CertificateCheck.NoCertificate e) {
      return false;
    }
  }

  @Test
  void signedCertificateHolds() throws Exception {
    CertificateCheck check = check(signed(KEY, verdict()));
    assertThat(check.problems()).isEmpty();
    assertThat(check.holds()).isTrue();
    assertThat(check.signer()).isEqualTo(KEY.signer());
    assertThat(check.figures()).isEqualTo(new CheckedFigures(1, 3, 0, 0, 0, 0, 0, 0, 1, 1));
  }

  @Test
  void changedFieldIsDetected() throws Exception {
    List<String> lines = signed(KEY, verdict());
    int flipped = 0;
    for (int line = 0; line < lines.size(); line++) {
      JsonNode original = Json.mapper().readTree(lines.get(line));
      int leaves = flip(original.deepCopy(), Integer.MAX_VALUE);
      for (int leaf = 0; leaf < leaves; leaf++) {
        JsonNode changed = original.deepCopy();
        flip(changed, leaf);
        assertThat(changed).isNotEqualTo(original);
        List<String> forged = new ArrayList<>(lines);
        forged.set(line, Json.mapper().writeValueAsString(changed));
        assertThat(holds(forged)).as(forged.get(line)).isFalse();
        flipped++;
      }
    }
    assertThat(flipped).isGreaterThan(150);
  }

  @Test
  void addedRemovedOrSwappedLinesAreDetected() throws Exception {
    List<String> lines = signed(KEY, verdict(), verdict());
    for (int i = 0; i < lines.size(); i++) {
      List<String> fewer = new ArrayList<>(lines);
      fewer.remove(i);
      assertThat(holds(fewer)).as("without line %d", i + 1).isFalse();
      List<String> more = new ArrayList<>(lines);
      more.add(i, lines.get(1));
      assertThat(holds(more)).as("one more before line %d", i + 1).isFalse();
    }
    List<String> after = new ArrayList<>(lines);
    after.add(lines.get(1));
    assertThat(holds(after)).isFalse();
    assertThat(holds(List.of(lines.get(1), lines.get(0), lines.get(2), lines.get(3)))).isFalse();
  }

  @Test
  void signedFiguresThatContradictTheirRoundsAreDetected() throws Exception {
    for (String field : List.of("candidate_ms", "reference_ms", "speedup", "low", "high")) {
      ObjectNode json = (ObjectNode) Json.mapper().readTree(verdict());
      ObjectNode size = (ObjectNode) json.get("sizes").get(1);
      size.put(field, size.get(field).asDouble() * 1.001);
      CertificateCheck check = check(signed(KEY, json.toString()));
      assertThat(check.signer()).isEqualTo(KEY.signer());
      assertThat(check.problems()).singleElement().asString().contains(field, "its rounds give");
    }
    ObjectNode json = (ObjectNode) Json.mapper().readTree(verdict());
    ((ObjectNode) json.get("speedup")).put("value", 2.0);
    json.put("candidate", "0".repeat(64));
    assertThat(check(signed(KEY, json.toString())).problems())
        .satisfiesExactlyInAnyOrder(
            problem -> assertThat(problem).contains("speedup is 2.0"),
            problem -> assertThat(problem).contains("another hash"));
  }

  @Test
  void weightsCountWhenFiguresAreComputedAgain() throws Exception {
    String weighted = verdict(0.5, 0.25, 0.25);
    assertThat(check(signed(KEY, weighted)).problems()).isEmpty();
    ObjectNode json = (ObjectNode) Json.mapper().readTree(weighted);
    ((ObjectNode) json.get("baselines").get(0).get("geometric")).put("low", 1.0);
    assertThat(check(signed(KEY, json.toString())).problems())
        .singleElement()
        .asString()
        .contains("geometric.low is 1.0");
    String other = weighted.replace("\"weight\":0.5", "\"weight\":0.25");
    assertThat(check(signed(KEY, other)).problems()).isNotEmpty();
  }

  /** A verdict with a compiled baseline, 1.25 times as fast as eager, that is the best of both. */
  private static ObjectNode compiled() {
    ObjectNode json = (ObjectNode) Json.mapper().readTree(verdict());
    ObjectNode compiled = ((ArrayNode) json.get("baselines")).addObject().put("name", "compile");
    List<Ratio> gains = new ArrayList<>();
    ArrayNode rounds = compiled.putArray("raw");
    ArrayNode ms = compiled.putArray("sizes_ms");
    for (JsonNode size : json.get("sizes")) {
      double eagerMs = size.get("reference_ms").asDouble();
      String raw = raw(eagerMs / 1.25, eagerMs);
      rounds.add(raw);
      gains.add(RawRounds.figures(RawRounds.rows(raw)).speedup());
      ms.add(eagerMs / gains.getLast().value());
    }
    JsonNode eager = json.get("speedup");
    Ratio speedup =
        RawRounds.overCompiled(
            new Ratio(
                eager.get("value").asDouble(),
                eager.get("low").asDouble(),
                eager.get("high").asDouble()),
            gains,
            null);
    compiled.put("speedup", speedup.value()).put("low", speedup.low()).put("high", speedup.high());
    ObjectNode main = (ObjectNode) json.get("speedup");
    main.put("baseline", "best (compile), warm cache").put("value", speedup.value());
    main.put("low", speedup.low()).put("high", speedup.high());
    return json;
  }

  @Test
  void speedupsOverCompiledReferencesAreCheckedAgainstTheirRounds() throws Exception {
    CertificateCheck check = check(signed(KEY, compiled().toString()));
    assertThat(check.problems()).isEmpty();
    assertThat(check.figures()).isEqualTo(new CheckedFigures(1, 3, 0, 0, 1, 0, 0, 0, 1, 1));
    for (String field : List.of("speedup", "low", "high")) {
      ObjectNode json = compiled();
      ObjectNode baseline = (ObjectNode) json.get("baselines").get(1);
      baseline.put(field, baseline.get(field).asDouble() * 1.001);
      // The verdict's own, which it names as the same, is another now.
      assertThat(check(signed(KEY, json.toString())).problems())
          .satisfiesExactly(
              problem -> assertThat(problem).contains("against compile: " + field + " is"),
              problem -> assertThat(problem).contains("gelu#0: " + field + " is"));
      ObjectNode own = compiled();
      ObjectNode main = (ObjectNode) own.get("speedup");
      String same = field.equals("speedup") ? "value" : field;
      main.put(same, main.get(same).asDouble() * 0.999);
      assertThat(check(signed(KEY, own.toString())).problems())
          .singleElement()
          .asString()
          .contains("gelu#0: " + field + " is");
    }
    ObjectNode json = compiled();
    ((ArrayNode) json.get("baselines").get(1).get("sizes_ms")).set(2, 0.1);
    assertThat(check(signed(KEY, json.toString())).problems())
        .singleElement()
        .asString()
        .contains("against compile, size (4096,) float32: sizes_ms is 0.1");
  }

  @Test
  void bestBaselineThatIsNotTheFastestIsDetected() throws Exception {
    ObjectNode json = compiled();
    ObjectNode eager = (ObjectNode) json.get("baselines").get(0);
    ObjectNode main = (ObjectNode) json.get("speedup");
    main.put("baseline", "best (eager)").put("value", eager.get("speedup").asDouble());
    main.set("low", eager.get("low"));
    main.set("high", eager.get("high"));
    assertThat(check(signed(KEY, json.toString())).problems())
        .containsExactly(
            "Activation/gelu#0: its speedup is against best (eager), and compile is faster");
  }

  @Test
  void compiledReferencesOfEarlierVersionsHaveNoRounds() throws Exception {
    ObjectNode json = compiled();
    ((ObjectNode) json.get("baselines").get(1)).remove("raw");
    CertificateCheck check = check(signed(KEY, json.toString()));
    assertThat(check.holds()).isTrue();
    assertThat(check.figures()).isEqualTo(new CheckedFigures(1, 3, 0, 0, 0, 1, 0, 0, 1, 1));
    ((ObjectNode) json.get("baselines").get(1)).putArray("raw").add(raw(1, 2));
    assertThat(check(signed(KEY, json.toString())).problems())
        .containsExactly("Activation/gelu#0, against compile: it has rounds of other sizes");
  }

  @Test
  void sizesWithoutRoundsAreNamedUnchecked() throws Exception {
    ObjectNode json = (ObjectNode) Json.mapper().readTree(verdict());
    for (JsonNode size : json.get("sizes")) ((ObjectNode) size).remove("raw");
    CertificateCheck check = check(signed(KEY, json.toString()));
    assertThat(check.holds()).isTrue();
    assertThat(check.figures()).isEqualTo(new CheckedFigures(0, 0, 1, 3, 0, 0, 0, 0, 1, 1));
    ObjectNode compiled = (ObjectNode) Json.mapper().readTree(verdict());
    ((ObjectNode) compiled.get("speedup")).put("baseline", "best (compile)");
    assertThat(check(signed(KEY, compiled.toString())).figures().otherBaselines()).isEqualTo(1);
  }

  @Test
  void hostBoundFlagIsCheckedAgainstMostRounds() throws Exception {
    ObjectNode json = (ObjectNode) Json.mapper().readTree(verdict());
    ObjectNode size = (ObjectNode) json.get("sizes").get(0);
    size.put("host_bound", true);
    assertThat(check(signed(KEY, json.toString())).problems())
        .singleElement()
        .asString()
        .endsWith("host_bound is true, its rounds give false");
    size.remove("host_bound");
    size.put("raw", raw(0.1, 0.15, 5));
    assertThat(check(signed(KEY, json.toString())).problems())
        .anyMatch(problem -> problem.endsWith("host_bound is false, its rounds give true"));
    size.put("host_bound", true);
    assertThat(check(signed(KEY, json.toString())).problems())
        .noneMatch(problem -> problem.contains("host_bound"));
  }

  @Test
  void sizeWithoutRoundsDoesNotHideOthers() throws Exception {
    ObjectNode json = (ObjectNode) Json.mapper().readTree(verdict());
    ((ObjectNode) json.get("sizes").get(0)).remove("raw");
    CertificateCheck check = check(signed(KEY, json.toString()));
    assertThat(check.holds()).isTrue();
    assertThat(check.figures().sizes()).isEqualTo(2);
    assertThat(check.figures().sizesWithoutRounds()).isEqualTo(1);
    ((ObjectNode) json.get("sizes").get(2)).put("candidate_ms", 0.001);
    assertThat(check(signed(KEY, json.toString())).problems())
        .singleElement()
        .asString()
        .contains("candidate_ms is 0.001");
  }

  @Test
  void aSpeedupWithoutSizesIsAProblem() throws Exception {
    for (String other : List.of("baselines", "speedup")) {
      for (boolean empty : List.of(true, false)) {
        ObjectNode json = (ObjectNode) Json.mapper().readTree(verdict());
        json.remove(List.of("sizes", other));
        if (empty) json.putArray("sizes");
        assertThat(check(signed(KEY, json.toString())).problems())
            .containsExactly("Activation/gelu#0: it has a speedup, but no timed sizes");
      }
    }
  }

  @Test
  void differentKeyIsADifferentSigner() throws Exception {
    SigningKey other = SigningKey.of(SigningKey.generate());
    assertThat(other.signer()).isNotEqualTo(KEY.signer());
    assertThat(check(signed(other, verdict())).signer()).isEqualTo(other.signer());
  }

  /** Changes the leaf with that number, if there is one; returns how many there are. */
  private static int flip(JsonNode node, int leaf) {
    int[] seen = {0};
    flip(node, leaf, seen);
    return seen[0];
  }

  private static void flip(JsonNode node, int leaf, int[] seen) {
    if (node instanceof ObjectNode object) {
      for (String key : List.copyOf(object.propertyNames())) {
        JsonNode child = object.get(key);
        if (child.isContainer()) flip(child, leaf, seen);
        else if (seen[0]++ == leaf) object.set(key, changed(child));
      }
    } else if (node instanceof ArrayNode array) {
      for (int i = 0; i < array.size(); i++) {
        JsonNode child = array.get(i);
        if (child.isContainer()) flip(child, leaf, seen);
        else if (seen[0]++ == leaf) array.set(i, changed(child));
      }
    }
  }

  private static JsonNode changed(JsonNode value) {
    var make = Json.mapper().getNodeFactory();
    if (value.isBoolean()) return make.booleanNode(!value.booleanValue());
    if (value.isIntegralNumber()) return make.numberNode(value.longValue() + 1);
    if (value.isNumber()) return make.numberNode(value.doubleValue() + 1e-3);
    String text = value.asString("");
    int middle = text.length() / 2;
    char other = !text.isEmpty() && text.charAt(middle) == 'A' ? 'B' : 'A';
    return make.stringNode(
        text.isEmpty() ? "A" : text.substring(0, middle) + other + text.substring(middle + 1));
  }
}

package dev.kbx.report;

import dev.kbx.verdict.Json;
import dev.kbx.verdict.Verdict;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Verdicts with what made their candidates. */
final class Made {
  /** Simulated peaks: bytes and operations a second. */
  private static final double BANDWIDTH = 4e12;

  private static final double RATE = 60e12;

  private Made() {}

  static Verdict by(String method, String model, Verdict verdict) {
    ObjectNode json = Json.mapper().valueToTree(verdict);
    return Json.mapper().treeToValue(json.put("method", method).put("model", model), Verdict.class);
  }

  /**
   * Two methods with two models each on the examples of an H200: of {@code refine} they are rounds.
   * Speedups and rooflines are simulated.
   */
  static List<Verdict> several() {
    Random random = new Random(7);
    List<Verdict> verdicts = new ArrayList<>();
    for (String method : List.of("single", "refine")) {
      for (String model : List.of("openai:gpt-5", "anthropic:claude")) {
        for (Verdict verdict : Fixtures.examples(Fixtures.H200)) {
          ObjectNode json = Json.mapper().valueToTree(by(method, model, verdict));
          if (method.equals("refine")) round(json);
          simulate(json, random);
          verdicts.add(Json.mapper().treeToValue(json, Verdict.class));
        }
      }
    }
    return verdicts;
  }

  private static void round(ObjectNode json) {
    json.put("round", json.get("sample").asInt()).put("sample", 0);
    json.put("candidate", "%064x".formatted(json.toString().hashCode() & 0xffffffffL));
  }

  private static void simulate(ObjectNode json, Random random) {
    if (!json.has("speedup")) return;
    double speedup = Math.exp(random.nextGaussian() / 2);
    ((ObjectNode) json.get("speedup"))
        .put("value", speedup)
        .put("low", speedup * 0.93)
        .put("high", speedup * 1.08);
    for (JsonNode size : json.get("sizes")) {
      double intensity = Math.exp(2 * random.nextGaussian());
      double share = 0.3 + 0.6 * random.nextDouble();
      double rate = Math.min(RATE, intensity * BANDWIDTH) * share;
      ((ObjectNode) size)
          .put("intensity", intensity)
          .put("tflops", rate / 1e12)
          .put("mfu", rate / RATE)
          .put("gbs", rate / intensity / 1e9)
          .put("iou", rate / intensity / BANDWIDTH);
    }
  }
}

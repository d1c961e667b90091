package dev.kbx.prompt;

import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;

/** Judgements for tests. */
final class Judgements {
  private static final String DEVICE =
      "{\"kind\": \"cuda\", \"name\": \"NVIDIA H200\", \"uuid\": \"GPU-5e3d\", \"driver\":"
          + " \"570.1\", \"arch\": \"sm_90\"}";

  private Judgements() {}

  /** A judgement with these fields, as JSON members, and what every judgement has. */
  static Judgement of(String status, String stage, String more) {
    return Json.mapper()
        .readValue(
            "{\"status\": \"%s\", \"stage\": \"%s\", %s \"device\": %s, \"versions\": {}, \"seconds\": {}}"
                .formatted(
                    status,
                    stage,
                    (more.contains("\"flags\"") ? "" : "\"flags\": [], ")
                        + (more.isBlank() ? "" : more.strip() + ","),
                    DEVICE),
            Judgement.class);
  }

  static final String TIMED =
      """
      "speedup": {"value": 1.25, "low": 1.2, "high": 1.3, "baseline": "eager"},
      "sizes": [
        {"shape": "shape=(4096,)", "candidate_ms": 0.004, "reference_ms": 0.005, "speedup": 1.25, "low": 1.1, "high": 1.4,
         "rounds": 8, "bound": "launch"},
        {"shape": "shape=(8192, 8192)", "candidate_ms": 0.25, "reference_ms": 0.3, "speedup": 1.2, "low": 1.19, "high": 1.21,
         "gbs": 2147.0, "iou": 0.51, "rounds": 20, "bound": "memory", "sol_ms": 0.128}],
      "compile": {"arch": "sm_90", "registers": 40, "shared_bytes": 2048, "spills": 0}
      """;

  static Judgement correct() {
    return of("correct", "perf", TIMED);
  }

  static Judgement wrong() {
    return of(
        "wrong_values",
        "correct",
        """
        "message": "shape=(1000,), standard values: 2 wrong elements of 1000, first output[7]: expected 1, got 2; they are 2 times what is expected",
        "mismatches": [{"output": "output", "index": [3, 7], "expected": "1", "got": "2"}],
        "error_metrics": {"error_ratio": 37.2, "max_abs": 1.0}
        """);
  }
}

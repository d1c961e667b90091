package dev.kbx.cli;

import dev.kbx.generate.Ledger;
import dev.kbx.store.RunStore;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A recorded run, read from the files that {@link GoldenOutputsTest} has as inputs.
 *
 * @param name of its folder
 * @param sources by the candidate's hash; a published result may have none
 * @param input the folder of its files
 */
record GoldenRun(
    String name, RunInfo info, List<Verdict> verdicts, Map<String, String> sources, Path input) {
  /** One run of each kind; the last was timed on a GPU. */
  private static final List<String> NAMES =
      List.of("file", "model", "models", "refine", "published", "gpu");

  static List<GoldenRun> all() throws IOException {
    List<GoldenRun> all = new ArrayList<>();
    for (String name : NAMES) all.add(read(name));
    return all;
  }

  private static GoldenRun read(String name) throws IOException {
    Path input = GoldenFiles.KEPT.resolve(name).resolve("input");
    RunInfo info =
        Json.mapper().readValue(Files.readString(input.resolve("run.json")), RunInfo.class);
    List<Verdict> verdicts = new ArrayList<>();
    for (String line : Files.readAllLines(input.resolve("verdicts.jsonl"))) {
      verdicts.add(Json.mapper().readValue(line, Verdict.class));
    }
    Map<String, String> sources = new HashMap<>();
    for (String line : Files.readAllLines(input.resolve("sources.jsonl"))) {
      JsonNode source = Json.mapper().readTree(line);
      sources.put(source.get("candidate").asString(), source.get("code").asString());
    }
    return new GoldenRun(name, info, verdicts, sources, input);
  }

  /**
   * Stores the run and copies its ledger, if it has one.
   *
   * @param out the results folder of the store
   */
  void store(RunStore store, Path out) throws IOException {
    store.begin(info);
    for (int i = 0; i < verdicts.size(); i++) {
      Verdict verdict = verdicts.get(i);
      var _ = store.add(i, verdict, sources.getOrDefault(verdict.provenance().candidate(), ""));
    }
    store.finish(info);
    Path folder = Files.createDirectories(out.resolve("runs").resolve(info.id()));
    Path ledger = input.resolve(Ledger.NAME);
    if (Files.exists(ledger)) Files.copy(ledger, folder.resolve(Ledger.NAME));
  }

  /** A run of the same candidates with speedups multiplied by {@code factor}. */
  GoldenRun again(String id, Verdict.Device device, double factor) {
    List<Verdict> others = new ArrayList<>();
    for (Verdict verdict : verdicts) {
      ObjectNode json = on(id, device, verdict);
      scale(json.get("speedup"), factor);
      for (JsonNode size : json.path("sizes")) scale(size, factor);
      others.add(Json.mapper().treeToValue(json, Verdict.class));
    }
    RunInfo other = Json.mapper().treeToValue(on(id, device, info).put("id", id), RunInfo.class);
    return new GoldenRun(name, other, others, sources, input);
  }

  private static ObjectNode on(String id, Verdict.Device device, Object of) {
    ObjectNode json = Json.mapper().valueToTree(of);
    json.set("device", Json.mapper().valueToTree(device));
    return json.put("run", id);
  }

  private static void scale(@Nullable JsonNode speedup, double factor) {
    if (!(speedup instanceof ObjectNode json)) return;
    for (String key : List.of("value", "speedup", "low", "high")) {
      if (json.has(key)) json.put(key, factor * json.get(key).asDouble());
    }
  }

  String id() {
    return info.id();
  }
}

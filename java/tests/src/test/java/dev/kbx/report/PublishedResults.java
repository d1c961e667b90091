package dev.kbx.report;

import dev.kbx.verdict.Json;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Speedup;
import java.util.List;
import tools.jackson.databind.node.ObjectNode;

/** Results as others published them, without kernels. */
final class PublishedResults {
  private PublishedResults() {}

  static RunInfo run(int candidates) {
    RunInfo like = Fixtures.run(Fixtures.CPU, candidates, 20, List.of("corpus.jsonl"));
    return new RunInfo(
        "20261122T081200-pblx",
        like.started(),
        like.finished(),
        like.sources(),
        like.suite(),
        like.tasks(),
        like.stages(),
        like.rulesOff(),
        correct("Math/exp", 0, 1).judgement().device(),
        like.versions(),
        candidates,
        20,
        Speedup.AS_PUBLISHED,
        "published",
        "published",
        "fp32",
        null,
        false,
        null,
        new RunInfo.Published("kernelbenchx-corpus", candidates, 0, 0, 0, 0, 0),
        null,
        null);
  }

  static Verdict correct(String task, int round, double speedup) {
    ObjectNode json = json(Fixtures.failed(task, 0, Status.CORRECT, Stage.PERF), round);
    json.put("perf_ok", true);
    json.putObject("speedup").put("value", speedup).put("baseline", Speedup.AS_PUBLISHED);
    return Json.mapper().treeToValue(json, Verdict.class);
  }

  static Verdict wrong(String task, int round) {
    var draft = Fixtures.failed(task, 0, Status.WRONG_VALUES, Stage.CORRECT);
    return Json.mapper().treeToValue(json(draft, round), Verdict.class);
  }

  private static ObjectNode json(Fixtures.Draft draft, int round) {
    ObjectNode json = Json.mapper().valueToTree(draft.build(Fixtures.CPU));
    json.remove("candidate");
    json.put("method", "refine").put("model", "m").put("round", round);
    json.putObject("device").put("kind", "published").put("name", "NVIDIA H100");
    return json;
  }
}

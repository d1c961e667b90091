package dev.kbx.cluster;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.annotation.JsonTypeName;
import dev.kbx.judge.Binaries;
import dev.kbx.plan.Plan;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.TaskVerdict;
import dev.kbx.verdict.Verdict;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A message between the driver and a node's own kbx. */
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "type")
sealed interface NodeMessage {

  /**
   * First message of a node.
   *
   * @param capacity candidates that it judges, or compiles, at the same time
   */
  @JsonTypeName("ready")
  record Ready(Verdict.Device device, Map<String, String> versions, int capacity)
      implements NodeMessage {}

  /** To a node: so many candidates are to come, among all nodes. */
  @JsonTypeName("expect")
  record Expect(Plan plan, int candidates) implements NodeMessage {}

  /** A request to a node; its answer repeats the id. */
  sealed interface Request extends NodeMessage permits Compile, Judge, Examine {
    int id();
  }

  /**
   * To a node without a GPU: compile a candidate that another is to judge.
   *
   * @param arch of the other's GPU
   */
  @JsonTypeName("compile")
  record Compile(int id, SentCandidate candidate, Plan plan, String arch) implements Request {}

  /**
   * To a node: judge a candidate.
   *
   * @param compiled by another node; null if none has compiled it
   */
  @JsonTypeName("judge")
  record Judge(int id, SentCandidate candidate, Plan plan, @Nullable Binaries compiled)
      implements Request {}

  /** To a node: examine a task by its controls, or only trace the shapes of its calls. */
  @JsonTypeName("examine")
  record Examine(int id, TaskMessage task, Plan plan, boolean controls) implements Request {}

  /** An answer to a request. */
  sealed interface Answer extends NodeMessage permits Compiled, Judged, Examined, Failed {
    int id();
  }

  /**
   * What was compiled.
   *
   * @param binaries null if there was nothing to compile, or not all could be
   */
  @JsonTypeName("compiled")
  record Compiled(int id, @Nullable Binaries binaries) implements Answer {}

  @JsonTypeName("judged")
  record Judged(int id, Judgement judgement) implements Answer {}

  @JsonTypeName("examined")
  record Examined(int id, TaskVerdict verdict) implements Answer {}

  /**
   * The node could not do it: its own fault, or kbx's.
   *
   * @param useless it can do nothing else either: its GPU has stopped computing
   */
  @JsonTypeName("failed")
  record Failed(int id, String message, boolean useless) implements Answer {}

  /**
   * A candidate on its way to a node. What only its provenance needs stays here.
   *
   * @param origin as of {@link dev.kbx.candidate.Candidate}
   */
  record SentCandidate(
      TaskMessage task,
      String code,
      String origin,
      int sample,
      @Nullable String method,
      @Nullable String model,
      @Nullable Integer round,
      Map<String, String> conditions) {}
}

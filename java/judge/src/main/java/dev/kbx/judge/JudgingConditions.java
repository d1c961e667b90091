package dev.kbx.judge;

import dev.kbx.candidate.Candidate;
import dev.kbx.outcome.Outcome;
import dev.kbx.plan.Plan;
import dev.kbx.task.Task;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.commons.codec.digest.DigestUtils;
import org.jspecify.annotations.Nullable;

/**
 * What a judgement depends on besides the candidate and the plan.
 *
 * @param device that judged
 * @param versions of the software that judged, by name
 */
public record JudgingConditions(Verdict.Device device, Map<String, String> versions) {
  public JudgingConditions {
    versions = Map.copyOf(versions);
  }

  /** The conditions of a judgement. */
  public static JudgingConditions of(Judgement judgement) {
    return new JudgingConditions(judgement.device(), judgement.versions());
  }

  /** These conditions on any GPU of the model. */
  public JudgingConditions onAnyCard() {
    return new JudgingConditions(
        new Verdict.Device(device.kind(), device.name(), null, device.driver(), device.arch()),
        versions);
  }

  /** The judgement of a candidate that is not tried again. */
  public Judgement givenUp(Candidate candidate, Plan plan, String why) {
    Task task = candidate.task();
    return new JudgementBuilder(
            plan.policy(task), task.isModule() ? plan.precision().label() : null)
        .judgement(plan, device, versions, Outcome.of(Status.INFRASTRUCTURE, Stage.CALL, why));
  }

  /** Hash of everything a task's verdict depends on under these conditions. */
  public String key(Task task, Plan plan) {
    MessageDigest digest = DigestUtils.getSha256Digest();
    List<@Nullable Object> parts =
        List.of(task.suite(), task.path(), plan, device, new TreeMap<>(versions));
    digest.update(parts.toString().getBytes(StandardCharsets.UTF_8));
    digest.update(task.digest().getBytes(StandardCharsets.UTF_8));
    for (Path kernel : task.kernels()) digest.update(content(kernel));
    return HexFormat.of().formatHex(digest.digest());
  }

  private static byte[] content(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      return new byte[0]; // An error is reported when the file is used.
    }
  }
}

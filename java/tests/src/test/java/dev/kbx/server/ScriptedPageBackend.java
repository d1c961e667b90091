package dev.kbx.server;

import dev.kbx.dashboard.Pending;
import dev.kbx.dashboard.ServiceState;
import dev.kbx.dashboard.SubmissionForm;
import dev.kbx.dashboard.Viewer;
import dev.kbx.verdict.RunLabel;
import io.helidon.webserver.http.ServerRequest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** A desk that takes what it is given and judges when it is told to. */
final class ScriptedPageBackend implements PageBackend {
  static final String HASH = "ab".repeat(32);

  final List<SubmissionForm> submissions = new CopyOnWriteArrayList<>();
  final Map<String, RunLabel> labels = new ConcurrentHashMap<>();
  volatile Viewer viewer = Viewer.LOCAL;
  volatile boolean signedIn = true;
  volatile String state = "queued";

  @Override
  public Optional<Viewer> viewer(ServerRequest request) {
    return signedIn ? Optional.of(viewer) : Optional.empty();
  }

  @Override
  public boolean isToken(String token) {
    return token.equals("kbx_right");
  }

  @Override
  public int open(String run) {
    return 0;
  }

  @Override
  public ServiceState state() {
    return new ServiceState(
        List.of(
            new ServiceState.Device(
                "NVIDIA H200", "ready", true, "GPU-5bd02c7a", "580.95.05", "sm_90"),
            new ServiceState.Device(
                "NVIDIA H200", "lost", false, "GPU-c11f09d2", "580.95.05", "sm_90")),
        3,
        2,
        Duration.ofSeconds(75),
        Map.of("ann", 2, "<b>ben", 1));
  }

  @Override
  public List<Pending> pending(String candidate, String judgement) {
    if (!candidate.equals(HASH) || submissions.isEmpty() || state.equals("done")) return List.of();
    return List.of(new Pending("j_1", state, "Activation/relu", "service", 2, null));
  }

  @Override
  public boolean label(Viewer client, String run, RunLabel label) {
    labels.put(run, label);
    return !run.equals("none");
  }

  @Override
  public Accepted submit(Viewer client, SubmissionForm submission) {
    if (submission.task().equals("Nowhere/none")) {
      throw Refusal.of(422, "no task 'Nowhere/none'; did you mean <Activation/relu>?");
    }
    submissions.add(submission);
    return new Accepted(HASH, "j_1");
  }
}

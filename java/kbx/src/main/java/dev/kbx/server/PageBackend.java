package dev.kbx.server;

import dev.kbx.dashboard.Pending;
import dev.kbx.dashboard.ServiceState;
import dev.kbx.dashboard.SubmissionForm;
import dev.kbx.dashboard.Viewer;
import dev.kbx.verdict.RunLabel;
import io.helidon.webserver.http.ServerRequest;
import java.util.List;
import java.util.Optional;

/** What the pages ask of the rest of the server. */
interface PageBackend {
  /** Who asks; empty for a request that needs a token and has none that may read. */
  Optional<Viewer> viewer(ServerRequest request);

  ServiceState state();

  /** How many candidates of a run are queued or being judged. */
  int open(String run);

  /** Whether it is a valid token, for who signs in. */
  boolean isToken(String token);

  /** The submission of that id, if it is one of the source and has no verdict. */
  List<Pending> pending(String candidate, String judgement);

  /**
   * Accepts a candidate.
   *
   * @throws Refusal if it cannot be judged, or not now
   */
  Accepted submit(Viewer viewer, SubmissionForm submission);

  /**
   * Changes a run's name and note.
   *
   * @return whether there is such a run
   * @throws Refusal if the viewer may not
   */
  boolean label(Viewer viewer, String run, RunLabel label);

  /**
   * An accepted candidate.
   *
   * @param candidate SHA-256 of its source, whose page shows what becomes of it
   * @param judgement id of the submission
   */
  record Accepted(String candidate, String judgement) {}
}

package dev.kbx.cluster;

import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.Source;
import dev.kbx.device.DeviceLost;
import dev.kbx.judge.Binaries;
import dev.kbx.judge.Dispatcher;
import dev.kbx.judge.LocalReferee;
import dev.kbx.judge.Verification;
import dev.kbx.task.Task;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.TaskVerdict;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.Frames;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What a node's own kbx does: it judges or compiles what the driver sends with its local referee,
 * until the driver is gone.
 */
public final class NodeServer {
  private final LocalReferee referee;
  private final Verdict.Device device;
  private final Path shipped;
  private final Frames frames;

  /**
   * @param device of the referee
   * @param shipped folder that the bridge unpacked archives in
   */
  public NodeServer(
      LocalReferee referee, Verdict.Device device, Path shipped, InputStream in, OutputStream out) {
    this.referee = referee;
    this.device = device;
    this.shipped = shipped;
    this.frames = new Frames(in, out, System::nanoTime);
  }

  /** Serves until the input ends; what is then being judged is interrupted. */
  public void run() throws IOException, InterruptedException {
    answer(new NodeMessage.Ready(device, referee.versions(), referee.capacity()));
    try (Dispatcher requests = new Dispatcher(Integer.MAX_VALUE)) {
      Frames.@Nullable Frame frame;
      while ((frame = frames.read()) != null) {
        switch (Codec.ofNode(frame.payload())) {
          case NodeMessage.Expect(var plan, var candidates) -> referee.expect(plan, candidates);
          case NodeMessage.Request request -> {
            if (!requests.submit(() -> serve(request))) requests.finish();
          }
          case NodeMessage.Ready _, NodeMessage.Answer _ ->
              throw new IOException("a message that only nodes send");
        }
      }
    }
  }

  private void serve(NodeMessage.Request request) throws InterruptedException {
    try {
      answer(answerTo(request));
    } catch (IOException e) {
      // The driver is gone.
    }
  }

  private NodeMessage.Answer answerTo(NodeMessage.Request request) throws InterruptedException {
    try {
      return switch (request) {
        case NodeMessage.Compile compile ->
            new NodeMessage.Compiled(compile.id(), compiled(compile));
        case NodeMessage.Judge judge -> new NodeMessage.Judged(judge.id(), judged(judge));
        case NodeMessage.Examine examine ->
            new NodeMessage.Examined(examine.id(), examined(examine));
      };
    } catch (DeviceLost e) {
      return new NodeMessage.Failed(request.id(), String.valueOf(e.getMessage()), true);
    } catch (RuntimeException | Error e) {
      return new NodeMessage.Failed(request.id(), "kbx failed: " + e, false);
    }
  }

  private @Nullable Binaries compiled(NodeMessage.Compile request) throws InterruptedException {
    Candidate candidate = candidate(request.candidate());
    return referee.compile(candidate, request.plan(), request.arch()).orElse(null);
  }

  private Judgement judged(NodeMessage.Judge request) throws InterruptedException {
    Candidate candidate = candidate(request.candidate());
    Binaries compiled = request.compiled();
    if (compiled != null) referee.keep(compiled, candidate, request.plan());
    return referee.judge(candidate, request.plan());
  }

  private Candidate candidate(NodeMessage.SentCandidate sent) {
    return new Candidate(
        task(sent.task()),
        new Source.Text(sent.code()),
        sent.origin(),
        sent.sample(),
        sent.method(),
        sent.model(),
        sent.round(),
        sent.conditions());
  }

  private TaskVerdict examined(NodeMessage.Examine examine) throws InterruptedException {
    Verification verification = new Verification(referee, examine.plan());
    Task task = task(examine.task());
    return examine.controls() ? verification.verify(task) : verification.trace(task);
  }

  private Task task(TaskMessage sent) {
    return sent.task(Shipment.on(shipped));
  }

  private void answer(NodeMessage message) throws IOException {
    frames.write(0, Codec.bytes(message));
  }
}

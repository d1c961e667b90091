package dev.kbx.cluster;

import dev.kbx.candidate.Candidate;
import dev.kbx.candidate.Source;
import dev.kbx.device.DeviceLost;
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
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a node's own kbx does: it judges what the driver sends with its local referee, until the
 * driver is gone.
 */
public final class NodeServer {
  private final LocalReferee referee;
  private final Verdict.Device device;
  private final Path shipped;
  private final Frames frames;
  private final Set<Thread> threads = new HashSet<>();

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
    try {
      Frames.@Nullable Frame frame;
      while ((frame = frames.read()) != null) {
        switch (Codec.ofNode(frame.payload())) {
          case NodeMessage.Expect(var plan, var candidates) -> referee.expect(plan, candidates);
          case NodeMessage.Request request -> start(request);
          case NodeMessage.Ready _, NodeMessage.Answer _ ->
              throw new IOException("a message that only nodes send");
        }
      }
    } finally {
      List<Thread> left;
      synchronized (threads) {
        left = List.copyOf(threads);
      }
      left.forEach(Thread::interrupt);
      Dispatcher.part(left);
    }
  }

  private void start(NodeMessage.Request request) {
    Thread thread = Thread.ofVirtual().unstarted(() -> serve(request));
    synchronized (threads) {
      threads.add(thread);
    }
    thread.start();
  }

  private void serve(NodeMessage.Request request) {
    try {
      answer(answerTo(request));
    } catch (InterruptedException | IOException e) {
      // The driver is gone.
    } finally {
      synchronized (threads) {
        threads.remove(Thread.currentThread());
      }
    }
  }

  private NodeMessage.Answer answerTo(NodeMessage.Request request) throws InterruptedException {
    try {
      return switch (request) {
        case NodeMessage.Judge judge ->
            new NodeMessage.Judged(judge.id(), judged(judge.candidate(), judge));
        case NodeMessage.Examine examine ->
            new NodeMessage.Examined(examine.id(), examined(examine));
      };
    } catch (DeviceLost e) {
      return new NodeMessage.Failed(request.id(), String.valueOf(e.getMessage()), true);
    } catch (RuntimeException e) {
      return new NodeMessage.Failed(request.id(), "kbx failed: " + e, false);
    }
  }

  private Judgement judged(NodeMessage.SentCandidate sent, NodeMessage.Judge judge)
      throws InterruptedException {
    Candidate candidate =
        new Candidate(
            task(sent.task()),
            new Source.Text(sent.code()),
            sent.origin(),
            sent.sample(),
            sent.method(),
            sent.model(),
            sent.round(),
            sent.conditions());
    return referee.judge(candidate, judge.plan());
  }

  private TaskVerdict examined(NodeMessage.Examine examine) throws InterruptedException {
    Verification verification = new Verification(referee, examine.plan());
    Task task = task(examine.task());
    return examine.controls() ? verification.verify(task) : verification.trace(task);
  }

  private Task task(SentTask sent) {
    return sent.task(Shipment.on(shipped));
  }

  private void answer(NodeMessage message) throws IOException {
    frames.write(0, Codec.bytes(message));
  }
}

package dev.kbx.cluster;

import dev.kbx.worker.Frames;
import dev.kbx.worker.WorkerFailure;
import dev.kbx.worker.WorkerProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** The bridge as a process. Closing its stdin ends it, and everything that it has on the nodes. */
final class BridgeProcess implements Link {
  private final WorkerProcess process;

  private BridgeProcess(WorkerProcess process) {
    this.process = process;
  }

  /**
   * Starts the bridge and waits until it is connected.
   *
   * @param python with Ray
   * @param home kbx's folder
   * @throws ClusterProblem if it cannot connect
   */
  static BridgeProcess start(Path python, Path home, List<String> arguments, Listener listener)
      throws InterruptedException {
    WorkerProcess process =
        WorkerProcess.start(
            "bridge to Ray",
            python,
            home,
            List.of("worker", "bridge"),
            System::nanoTime,
            arguments,
            new WorkerProcess.Listener() {
              @Override
              public void frame(Frames.Frame frame) {
                listener.frame(frame.channel(), frame.payload());
              }

              @Override
              public void ended(WorkerFailure why) {
                listener.ended(String.valueOf(why.getMessage()));
              }
            });
    try {
      var _ = process.greeting();
      return new BridgeProcess(process);
    } catch (WorkerFailure e) {
      process.close();
      throw new ClusterProblem(String.valueOf(e.getMessage()), e);
    } catch (InterruptedException e) {
      process.close();
      throw e;
    }
  }

  @Override
  public void send(int channel, byte[] payload) throws IOException {
    process.send(channel, payload);
  }

  @Override
  public void close() {
    process.close();
  }
}

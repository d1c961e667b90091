package dev.kbx.cli;

import dev.kbx.app.WorkerPool;
import dev.kbx.cluster.NodeServer;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code kbx node}: what a cluster's nodes run, behind frames on stdin and stdout. */
@Command(
    name = "node",
    description = "Judge what the driver of a cluster sends; started by --cluster.",
    hidden = true,
    mixinStandardHelpOptions = true)
final class NodeCommand implements Callable<Integer> {
  @Option(
      names = "--shipped",
      paramLabel = "DIR",
      required = true,
      description = "Folder that archives were unpacked in.")
  private Path shipped = Path.of("");

  @Mixin private Options.Workers workers = new Options.Workers();

  @Override
  public Integer call() throws InterruptedException, IOException {
    OutputStream frames = new FileOutputStream(FileDescriptor.out);
    System.setOut(System.err); // What is printed must not get between frames.
    try (WorkerPool pool = WorkerPool.start(workers.settings())) {
      new NodeServer(pool.referee(), pool.device(), shipped, System.in, frames).run();
    }
    return ExitCode.OK;
  }
}

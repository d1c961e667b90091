package dev.kbx.cli;

import dev.kbx.app.WorkerSource;
import dev.kbx.device.Workers;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** Keeps the processes of a command for those after it. They end with this JVM, as any worker. */
final class KeptWorkers implements WorkerSource {
  private final Map<List<Path>, Workers> kept = new HashMap<>();

  @Override
  public Workers take(Path python, Path home, Supplier<Workers> start) {
    return kept.computeIfAbsent(List.of(python, home), _ -> start.get());
  }

  @Override
  public void giveBack(Workers workers) {
    // The next command needs them.
  }
}

package dev.kbx.app;

import dev.kbx.device.Workers;
import java.nio.file.Path;
import java.util.function.Supplier;

/** Gives a command the processes that judge, and takes them back when it ends. */
public interface WorkerSource {
  /** Starts processes for each command, and ends them with it. */
  WorkerSource NEW =
      new WorkerSource() {
        @Override
        public Workers take(Path python, Path home, Supplier<Workers> start) {
          return start.get();
        }

        @Override
        public void giveBack(Workers workers) {
          workers.close();
        }
      };

  /**
   * The processes of an interpreter: new ones, or those of an earlier command.
   *
   * @param home folder that holds {@code worker/}
   * @param start makes new ones
   */
  Workers take(Path python, Path home, Supplier<Workers> start);

  /** A command needs these no longer. */
  void giveBack(Workers workers);
}

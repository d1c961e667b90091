package dev.kbx.generate;

import dev.kbx.candidate.Extraction;
import dev.kbx.method.Event;
import dev.kbx.task.Task;

/** The code in replies, as events. */
final class Extractions {
  private Extractions() {}

  static Event.Extraction of(String ask, String reply, Task task) {
    Extraction found = Extraction.of(reply, task);
    return new Event.Extraction(ask, found.rule(), found.found() ? found.code() : null);
  }
}

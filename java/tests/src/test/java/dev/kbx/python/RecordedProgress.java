package dev.kbx.python;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

/** Keeps what it hears, and tells somebody each note while whoever says it waits. */
final class RecordedProgress implements Progress {
  final List<String> notes = new CopyOnWriteArrayList<>();
  final List<String> updates = new CopyOnWriteArrayList<>();
  private final Consumer<String> listener;

  RecordedProgress() {
    this(_ -> {});
  }

  RecordedProgress(Consumer<String> listener) {
    this.listener = listener;
  }

  @Override
  public void note(String line) {
    notes.add(line);
    listener.accept(line);
  }

  @Override
  public void update(String status) {
    updates.add(status);
  }

  @Override
  public void done() {}
}

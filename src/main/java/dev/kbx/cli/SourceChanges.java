package dev.kbx.cli;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Tells when one of some files was written, replaced or deleted. Their folders are watched: most
 * editors write another file and rename it.
 */
final class SourceChanges implements AutoCloseable {
  /** A save is several events; after the last of them the file is whole. */
  private static final long SETTLED_MILLIS = 30;

  private final WatchService service;
  private final Set<Path> files;

  private SourceChanges(WatchService service, Set<Path> files) {
    this.service = service;
    this.files = files;
  }

  /** Changes from now on. */
  static SourceChanges of(List<Path> sources) throws IOException {
    Set<Path> files = new HashSet<>();
    Set<Path> folders = new HashSet<>();
    for (Path source : sources) {
      Path file = source.toAbsolutePath().normalize();
      files.add(file);
      folders.add(file.resolveSibling(""));
    }
    WatchService service = FileSystems.getDefault().newWatchService();
    for (Path folder : folders) {
      folder.register(
          service,
          StandardWatchEventKinds.ENTRY_CREATE,
          StandardWatchEventKinds.ENTRY_MODIFY,
          StandardWatchEventKinds.ENTRY_DELETE);
    }
    return new SourceChanges(service, files);
  }

  /** Waits for a change, and then until there is none for a moment. */
  void await() throws InterruptedException {
    boolean changed = false;
    while (true) {
      WatchKey key = changed ? service.poll(SETTLED_MILLIS, TimeUnit.MILLISECONDS) : service.take();
      if (key == null) return;
      changed |= concerns(key);
      if (!key.reset())
        throw new UserError(key.watchable() + ": is gone; nothing is left to watch");
    }
  }

  /** Whether a file is among what happened in a folder; takes the events. */
  private boolean concerns(WatchKey key) {
    Path folder = (Path) key.watchable();
    return key.pollEvents().stream()
        .anyMatch(event ->
            // Without a name it says that events were lost.
            !(event.context() instanceof Path name) || files.contains(folder.resolve(name)));
  }

  @Override
  public void close() throws IOException {
    service.close();
  }
}

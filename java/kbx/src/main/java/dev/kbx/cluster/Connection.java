package dev.kbx.cluster;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The link to the bridge, and the next one after it is lost. Whoever sends while there is none
 * waits for it.
 *
 * <p>Safe for several threads: its monitor guards whether it is closing, which thread opens a link
 * again, and what {@link #link} is set to. Nothing is waited for under it, and no other lock of
 * this package is taken, so that it may be used under any.
 */
final class Connection implements AutoCloseable {
  /** For a head to start again; Ray gives up a head that is gone after a minute. */
  private static final Duration RECONNECT = Duration.ofMinutes(3);

  private static final Duration BETWEEN = Duration.ofSeconds(2);

  private final Link.Opener opener;
  private final Link.Listener listener;
  private final Consumer<String> notes;

  /** Incomplete while there is none; if there will be none, completed with the one that is lost. */
  private volatile CompletableFuture<Link> link = new CompletableFuture<>();

  private @Nullable Thread reconnecting;
  private boolean closing;

  /**
   * @param listener of each link; may be given frames before {@link #open} returns
   * @param notes receives lines for the user
   */
  Connection(Link.Opener opener, Link.Listener listener, Consumer<String> notes) {
    this.opener = opener;
    this.listener = listener;
    this.notes = notes;
  }

  /**
   * Opens the first link.
   *
   * @throws ClusterProblem if that fails
   */
  void open() throws InterruptedException {
    link.complete(attempt());
  }

  /**
   * Opens a link. Its end is told once it is open: before, {@link ClusterProblem} says the same.
   */
  private Link attempt() throws InterruptedException {
    Attempt attempt = new Attempt();
    Link opened = opener.open(attempt);
    attempt.opened();
    return opened;
  }

  private final class Attempt implements Link.Listener {
    private boolean open;
    private @Nullable String end;

    @Override
    public void frame(int channel, byte[] payload) {
      listener.frame(channel, payload);
    }

    @Override
    public void ended(String why) {
      synchronized (this) {
        end = why;
        if (!open) return;
      }
      listener.ended(why);
    }

    private void opened() {
      String ended;
      synchronized (this) {
        open = true;
        ended = end;
      }
      if (ended != null) listener.ended(ended);
    }
  }

  void send(int channel, byte[] payload) {
    try {
      link.join().send(channel, payload);
    } catch (IOException e) {
      // The bridge has ended; Link.Listener.ended follows.
    }
  }

  /**
   * Begins to open another link instead of one that has ended.
   *
   * @param failed is called by another thread if there will be none
   * @return false if nothing was begun, because the connection is closed
   */
  synchronized boolean reopen(Runnable failed) {
    if (closing) return false;
    CompletableFuture<Link> lost = link;
    link = new CompletableFuture<>();
    notes.accept(
        "the cluster is lost; connecting again for %d minutes".formatted(RECONNECT.toMinutes()));
    reconnecting = Thread.ofVirtual().start(() -> reconnect(lost.join(), failed));
    return true;
  }

  private void reconnect(Link lost, Runnable failed) {
    long end = System.nanoTime() + RECONNECT.toNanos();
    lost.close();
    while (true) {
      try {
        link.complete(attempt());
        notes.accept("connected to the cluster again");
        return;
      } catch (ClusterProblem | InterruptedException e) {
        if (e instanceof InterruptedException || System.nanoTime() > end || !pause()) {
          link.complete(lost);
          failed.run();
          return;
        }
      }
    }
  }

  /** Whether nobody interrupted it. */
  private static boolean pause() {
    try {
      Thread.sleep(BETWEEN);
      return true;
    } catch (InterruptedException e) {
      return false;
    }
  }

  /** Whether it is closed, or about to be. */
  synchronized boolean isClosing() {
    return closing;
  }

  @Override
  public void close() {
    synchronized (this) {
      closing = true;
      if (reconnecting != null) reconnecting.interrupt();
    }
    link.join().close();
  }
}

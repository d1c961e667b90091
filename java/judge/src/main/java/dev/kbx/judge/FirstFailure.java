package dev.kbx.judge;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Holds the first failure of several threads. */
public final class FirstFailure {
  private final AtomicReference<@Nullable Throwable> first = new AtomicReference<>();

  /** Records an unchecked exception or an error, unless there is one already. */
  public void set(Throwable failure) {
    first.compareAndSet(null, failure);
  }

  public boolean isSet() {
    return first.get() != null;
  }

  /** Throws the recorded failure, if any. */
  public void rethrow() {
    switch (first.get()) {
      case null -> {}
      case Error error -> throw error;
      case RuntimeException exception -> throw exception;
      case Throwable other -> throw new IllegalStateException(other);
    }
  }
}

package dev.kbx.judge;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** What went wrong first in one of several threads. */
public final class FirstFailure {
  private final AtomicReference<@Nullable Throwable> first = new AtomicReference<>();

  /** Takes note of an unchecked exception or an error, unless there was one before. */
  public void set(Throwable failure) {
    first.compareAndSet(null, failure);
  }

  public boolean isSet() {
    return first.get() != null;
  }

  /** Throws it, if there is one. */
  public void rethrow() {
    switch (first.get()) {
      case null -> {}
      case Error error -> throw error;
      case RuntimeException exception -> throw exception;
      case Throwable other -> throw new IllegalStateException(other);
    }
  }
}

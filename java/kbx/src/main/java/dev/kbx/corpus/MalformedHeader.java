package dev.kbx.corpus;

/** A corpus file has a missing or wrong header; the message is one clause. */
public final class MalformedHeader extends RuntimeException {
  private static final long serialVersionUID = 1;

  MalformedHeader(String message) {
    super(message);
  }
}

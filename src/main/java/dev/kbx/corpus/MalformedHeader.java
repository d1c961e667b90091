package dev.kbx.corpus;

/** A file of the corpus does not say what it must say of itself; the message is one clause. */
public final class MalformedHeader extends RuntimeException {
  private static final long serialVersionUID = 1;

  MalformedHeader(String message) {
    super(message);
  }
}

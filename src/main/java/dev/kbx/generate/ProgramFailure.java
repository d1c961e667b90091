package dev.kbx.generate;

/** The program of an external method can say no more. The message is one line without its name. */
final class ProgramFailure extends Exception {
  private static final long serialVersionUID = 1;

  ProgramFailure(String message) {
    super(message);
  }

  String message() {
    return String.valueOf(getMessage());
  }
}

package dev.kbx.generate;

import java.io.IOException;

/** A ledger cannot be read or written, or is not of this run. The message is for users. */
public final class InvalidLedger extends RuntimeException {
  private static final long serialVersionUID = 1;

  InvalidLedger(String message) {
    super(message);
  }

  InvalidLedger(String message, IOException cause) {
    super(message, cause);
  }
}

package dev.kbx.verdict;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/** The outcome of a judgement, decided by the first stage that fails. */
public enum Status {
  /** Passed every stage that was requested and possible here. */
  CORRECT(Blame.NOBODY),
  /** A static rule refuses it; {@code rule} names it. */
  REJECTED_STATIC(Blame.CANDIDATE),
  /** The answer holds no Python source. */
  NO_CODE(Blame.CANDIDATE),
  /** Nothing in the source has the entry's name. */
  NO_ENTRY(Blame.CANDIDATE),
  SYNTAX_ERROR(Blame.CANDIDATE),
  /** Importing the source failed. */
  IMPORT_ERROR(Blame.CANDIDATE),
  /** A kernel launch does not compile for the architecture. */
  COMPILE_ERROR(Blame.CANDIDATE),
  /** The entry raised. */
  RUNTIME_ERROR(Blame.CANDIDATE),
  TIMEOUT(Blame.CANDIDATE),
  OUT_OF_MEMORY(Blame.CANDIDATE),
  /** The process ended by a signal or exited early. */
  CRASHED(Blame.CANDIDATE),
  /** The result is not the tree of tensors that the reference returns. */
  WRONG_STRUCTURE(Blame.CANDIDATE),
  WRONG_SHAPE(Blame.CANDIDATE),
  WRONG_DTYPE(Blame.CANDIDATE),
  WRONG_DEVICE(Blame.CANDIDATE),
  WRONG_VALUES(Blame.CANDIDATE),
  /** A kernel reads or writes outside of every tensor, whatever the result. */
  OUT_OF_BOUNDS(Blame.CANDIDATE),
  /** Programs of a launch change what others use, and nothing orders them; whatever the result. */
  RACE(Blame.CANDIDATE),
  /** The result is right or wrong with the order in which the programs of a launch run. */
  ORDER_DEPENDENT(Blame.CANDIDATE),
  /** The result is wrong, and depends on values that nobody has defined. */
  UNDEFINED_VALUE(Blame.CANDIDATE),
  /** Equal inputs gave different results, one of them wrong. */
  NONDETERMINISTIC(Blame.CANDIDATE),
  /** The entry changed an argument that it must leave alone. */
  INPUT_MUTATED(Blame.CANDIDATE),
  /** The values are right, but others did too much of the work; {@code evidence} names them. */
  NOT_A_KERNEL(Blame.CANDIDATE),
  /** Running it showed an attempt to deceive; {@code evidence} describes it. */
  CHEATING(Blame.CANDIDATE),
  /** Failed, as published: the record says that it failed, not how. No verdict of kbx. */
  FAILED(Blame.CANDIDATE),
  /** The task file is wrong; says nothing about the candidate. */
  INVALID_TASK(Blame.TASK),
  /** kbx or this machine failed; says nothing about the candidate. */
  INFRASTRUCTURE(Blame.KBX);

  /** Who has to act on a status. */
  public enum Blame {
    NOBODY,
    CANDIDATE,
    TASK,
    KBX
  }

  private final Blame blame;

  Status(Blame blame) {
    this.blame = blame;
  }

  public Blame blame() {
    return blame;
  }

  /** Whether any stage found results to be wrong or not the candidate's own. */
  public boolean refuted() {
    return switch (this) {
      case WRONG_STRUCTURE,
          WRONG_SHAPE,
          WRONG_DTYPE,
          WRONG_DEVICE,
          WRONG_VALUES,
          OUT_OF_BOUNDS,
          RACE,
          ORDER_DEPENDENT,
          UNDEFINED_VALUE,
          NONDETERMINISTIC,
          INPUT_MUTATED,
          NOT_A_KERNEL,
          CHEATING ->
          true;
      case CORRECT,
          REJECTED_STATIC,
          NO_CODE,
          NO_ENTRY,
          SYNTAX_ERROR,
          IMPORT_ERROR,
          COMPILE_ERROR,
          RUNTIME_ERROR,
          TIMEOUT,
          OUT_OF_MEMORY,
          CRASHED,
          FAILED,
          INVALID_TASK,
          INFRASTRUCTURE ->
          false;
    };
  }

  /** Whether what launches do to memory, or the order of their programs, decided. */
  public boolean ofMemory() {
    return this == OUT_OF_BOUNDS
        || this == RACE
        || this == ORDER_DEPENDENT
        || this == UNDEFINED_VALUE;
  }

  /** The name used in files and pages: {@code correct, wrong_values, …}. */
  @JsonValue
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The status with that label. Throws {@link IllegalArgumentException} for any other text. */
  public static Status of(String label) {
    return valueOf(label.toUpperCase(Locale.ROOT));
  }
}

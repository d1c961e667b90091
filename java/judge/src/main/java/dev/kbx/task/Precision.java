package dev.kbx.task;

import java.io.IOException;
import java.nio.file.Files;
import java.util.regex.Pattern;

/** Precision that products need in a float32 task. */
public enum Precision {
  /** TF32 and half precision are wrong values. */
  FLOAT32,

  /** The task is about another dtype, or allows less, or says by what tolerance it judges. */
  FREE;

  /** In a contract: {@code Close(tf32=True)}. */
  private static final Pattern TF32 = Pattern.compile("\\btf32\\s*=\\s*True\\b");

  /**
   * The precision of a task. Imported functions have tolerances of their own, and quantized ones
   * are about other bits.
   */
  public static Precision of(Task task) {
    boolean judgedByErrors = task.isModule() || !task.isImported();
    return isAsked(task) && judgedByErrors && !allowsTf32(task) ? FLOAT32 : FREE;
  }

  /** Whether a task is about float32, however near its results must be. */
  public static boolean isAsked(Task task) {
    return "float32".equals(task.dtype()) && !task.tags().contains("quantization");
  }

  private static boolean allowsTf32(Task task) {
    try {
      return TF32.matcher(Files.readString(task.file())).find();
    } catch (IOException _) {
      return false; // It has gone since the suite was opened: the worker says so.
    }
  }
}

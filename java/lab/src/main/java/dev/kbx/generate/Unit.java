package dev.kbx.generate;

/**
 * One trajectory of a run: a method at a task for one sample.
 *
 * @param method name of the method's table in the run
 * @param task {@code Category/name}
 * @param sample from 0
 */
public record Unit(String method, String task, int sample) {
  @Override
  public String toString() {
    return "%s, %s, sample %d".formatted(method, task, sample);
  }
}

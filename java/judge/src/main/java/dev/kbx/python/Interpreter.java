package dev.kbx.python;

import static java.util.Objects.requireNonNull;

import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/**
 * A Python that has what workers need.
 *
 * @param executable absolute; started as it is (a virtual environment's link must not be followed)
 * @param versions of {@code python}, {@code torch}, {@code triton} and, where installed, {@code
 *     numpy}
 * @param provisioned kbx installed it, with pinned versions; otherwise it was found or named
 */
public record Interpreter(Path executable, Map<String, String> versions, boolean provisioned) {
  public Interpreter {
    requireNonNull(executable);
    versions = Map.copyOf(versions);
    if (!versions.containsKey("python")) throw new IllegalArgumentException("python's version");
  }

  /** Path and versions: {@code /usr/bin/python3 (python 3.12.3, torch 2.11.0, triton 3.6.0)}. */
  @Override
  public String toString() {
    StringBuilder list = new StringBuilder();
    new TreeMap<>(versions)
        .forEach((name, version) ->
            list.append(list.isEmpty() ? "" : ", ").append(name).append(' ').append(version));
    return executable + " (" + list + ")";
  }
}

package dev.kbx.judge;

import java.util.Map;

/**
 * What one machine compiled of a candidate, for another that judges it.
 *
 * @param key differs with everything that the files depend on: source, task, architecture, versions
 * @param files as of a runner that compiled them. The candidate's own process made them: data, and
 *     of use only to the same candidate.
 */
public record Binaries(String key, Map<String, String> files) {
  public Binaries {
    files = Map.copyOf(files);
  }
}

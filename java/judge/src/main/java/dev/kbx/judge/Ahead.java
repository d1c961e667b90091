package dev.kbx.judge;

import java.util.Map;
import java.util.stream.Stream;

/**
 * What was compiled of a candidate before it had a device. Data, and of use only to the same
 * candidate.
 *
 * @param files of Triton's cache and libraries made of C++, by path, as of a runner that ran the
 *     candidate; empty if nothing could be compiled
 * @param kernels as of a runner that did not, for calls that are made again without the candidate
 */
public record Ahead(Map<String, String> files, Map<String, String> kernels) {
  public static final Ahead NOTHING = new Ahead(Map.of(), Map.of());

  public Ahead {
    files = Map.copyOf(files);
    kernels = Map.copyOf(kernels);
  }

  boolean hasNoFiles() {
    return files.isEmpty();
  }

  /** Characters of what it holds. */
  public long length() {
    return Stream.of(files, kernels)
        .flatMap(each -> each.values().stream())
        .mapToLong(String::length)
        .sum();
  }
}

package dev.kbx.analysis;

import java.util.HashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The set of all runs of {@value #LENGTH} consecutive tokens of a Python source, which says how
 * alike two sources are. Comments, texts in triple quotes and white space are no tokens. Renaming
 * or moving a line changes few runs; kernels that two authors wrote independently share few.
 *
 * @param hashes one of 64 bits for each
 */
public record Shingles(Set<Long> hashes) {
  private static final int LENGTH = 8;

  private static final Pattern LEFT_OUT =
      Pattern.compile("\"\"\"[\\s\\S]*?\"\"\"|'''[\\s\\S]*?'''|#[^\\n]*");
  private static final Pattern TOKEN =
      Pattern.compile("[A-Za-z_]\\w*|\\d[\\w.]*|[^\\s\\w]", Pattern.UNICODE_CHARACTER_CLASS);

  /** An odd number with bits all over: 2^64 over the golden ratio. */
  private static final long SPREAD = 0x9e3779b97f4a7c15L;

  public Shingles {
    hashes = Set.copyOf(hashes);
  }

  /** The shingles of a text; none if it has fewer tokens than one needs. */
  public static Shingles of(String text) {
    long[] last = new long[LENGTH];
    int count = 0;
    Set<Long> hashes = new HashSet<>();
    Matcher token = TOKEN.matcher(LEFT_OUT.matcher(text).replaceAll(" "));
    while (token.find()) {
      last[count++ % LENGTH] = token.group().hashCode();
      if (count < LENGTH) continue;
      long hash = 0;
      for (int i = 0; i < LENGTH; i++) hash = (hash + last[(count + i) % LENGTH]) * SPREAD;
      hashes.add(hash ^ (hash >>> 32));
    }
    return new Shingles(hashes);
  }

  /** How many there are. */
  public int size() {
    return hashes.size();
  }

  /** How many of them another text has, too. */
  public int shared(Shingles other) {
    Set<Long> small = size() < other.size() ? hashes : other.hashes;
    Set<Long> large = size() < other.size() ? other.hashes : hashes;
    int shared = 0;
    for (Long hash : small) if (large.contains(hash)) shared++;
    return shared;
  }

  /** Jaccard's index, from 0 to 1: shared ones over all of both; 0 where both have none. */
  public double similarity(Shingles other) {
    int shared = shared(other);
    int all = size() + other.size() - shared;
    return all == 0 ? 0 : (double) shared / all;
  }

  /** Those that another text does not have. */
  public Shingles without(Shingles other) {
    Set<Long> rest = new HashSet<>(hashes);
    rest.removeAll(other.hashes);
    return new Shingles(rest);
  }
}

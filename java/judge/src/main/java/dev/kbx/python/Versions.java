package dev.kbx.python;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The versions that kbx works with.
 *
 * <p>Torch and Triton only count as tested where the worker's tests were run with them; others are
 * tried, with a note, when the user names their interpreter.
 */
final class Versions {
  private static final Minor OLDEST_PYTHON = new Minor(3, 10);
  private static final Minor NEWEST_PYTHON = new Minor(3, 14);
  private static final Minor OLDEST_TORCH = new Minor(2, 6);
  private static final Minor OLDEST_TRITON = new Minor(3, 5);
  private static final Minor NEWEST_TRITON = new Minor(3, 9);

  private Versions() {}

  /** The first two numbers of a version. */
  private record Minor(int major, int minor) implements Comparable<Minor> {
    private static final Pattern START = Pattern.compile("(\\d{1,6})\\.(\\d{1,6}).*");

    static Minor of(String version) {
      Matcher matcher = START.matcher(version);
      if (!matcher.matches()) return new Minor(0, 0);
      return new Minor(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)));
    }

    @Override
    public int compareTo(Minor that) {
      return major != that.major ? major - that.major : minor - that.minor;
    }

    @Override
    public String toString() {
      return major + "." + minor;
    }
  }

  static boolean isPythonNewEnough(String python) {
    return Minor.of(python).compareTo(OLDEST_PYTHON) >= 0;
  }

  /** Whether the pinned packages exist for this Python. */
  static boolean canProvision(String python) {
    return isPythonNewEnough(python) && Minor.of(python).compareTo(NEWEST_PYTHON) <= 0;
  }

  static String pythonRange() {
    return OLDEST_PYTHON + " to " + NEWEST_PYTHON;
  }

  /** A line for each untested version of torch and Triton. */
  static List<String> untested(String torch, String triton) {
    List<String> lines = new ArrayList<>();
    if (Minor.of(torch).compareTo(OLDEST_TORCH) < 0)
      lines.add("torch " + torch + " is untested (" + OLDEST_TORCH + " and newer are tested)");
    if (Minor.of(triton).compareTo(OLDEST_TRITON) < 0
        || Minor.of(triton).compareTo(NEWEST_TRITON) > 0)
      lines.add(
          "triton %s is untested (%s to %s are tested)"
              .formatted(triton, OLDEST_TRITON, NEWEST_TRITON));
    return lines;
  }
}

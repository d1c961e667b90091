package dev.kbx.document;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A figure as data; {@link SvgFigure} and {@link PgfFigure} draw it.
 *
 * @param id its name in files and labels: lower-case letters and hyphens
 * @param caption what it shows and how to read it
 * @param whiskers the axis along which points have intervals
 * @param height of the plot area, cm
 */
public record Figure(
    String id,
    String caption,
    Axis x,
    Axis y,
    Whiskers whiskers,
    double height,
    List<Series> series)
    implements Block {
  /** Colours for series; more series repeat them with other marks and dashes. */
  public static final List<String> COLOURS =
      // M. Okabe and K. Ito's palette, which colour-blind readers can tell apart, without yellow.
      List.of("0072B2", "D55E00", "009E73", "CC79A7", "E69F00", "56B4E9", "000000");

  /** Shapes of marks; their number has no factor in common with that of colours. */
  static final int MARKS = 5;

  /** Legends are not wider than so many characters. */
  private static final int LEGEND = 84;

  public Figure {
    series = List.copyOf(series);
    if (series.isEmpty()) throw new IllegalArgumentException(id + ": a figure shows something");
  }

  /** The axis along which points have intervals. */
  public enum Whiskers {
    ALONG_X,
    ALONG_Y
  }

  /**
   * One axis.
   *
   * @param guide where a thin line crosses it, such as at a speedup of 1; null for none
   */
  public record Axis(
      String label,
      boolean log,
      double low,
      double high,
      List<Tick> ticks,
      @Nullable Double guide) {
    public Axis {
      ticks = List.copyOf(ticks);
      if (!(low < high) || (log && low <= 0)) {
        throw new IllegalArgumentException("no axis from %s to %s".formatted(low, high));
      }
    }

    /**
     * Where a value is, 0 at the lower end and 1 at the upper one; values outside are at an end.
     */
    double place(double value) {
      double inside = Math.clamp(value, low, high);
      return log ? Math.log(inside / low) / Math.log(high / low) : (inside - low) / (high - low);
    }
  }

  /** A mark on an axis. */
  public record Tick(double at, String label) {}

  /** How the points of a series are joined. */
  public enum Join {
    /** Marks with whiskers. */
    NONE,
    /** Marks with whiskers, and a line. */
    LINE,
    /** A line alone; a value holds up to the next point. The interval is a band. */
    STEPS
  }

  /** Points of one kind, in the order of x if they are joined. */
  public record Series(String name, Join join, List<Point> points) {
    public Series {
      points = List.copyOf(points);
    }

    /** The largest value or upper end of an interval. */
    double most(Whiskers along) {
      double most = 0;
      for (Point point : points) {
        double value = along == Whiskers.ALONG_X ? point.x() : point.y();
        most = Math.max(most, point.high() == null ? value : point.high());
      }
      return most;
    }

    /** The corners of its line. */
    List<Point> line() {
      if (join != Join.STEPS) return points;
      List<Point> corners = new ArrayList<>();
      for (Point point : points) {
        if (!corners.isEmpty()) corners.add(Point.at(point.x(), corners.getLast().y()));
        corners.add(Point.at(point.x(), point.y()));
      }
      return corners;
    }

    /** The corners of the band of its intervals; empty without steps or intervals. */
    List<Point> band() {
      if (join != Join.STEPS || points.stream().anyMatch(point -> point.low() == null)) {
        return List.of();
      }
      List<Point> upper = new ArrayList<>();
      List<Point> lower = new ArrayList<>();
      for (Point point : points) {
        corners(upper, point.x(), point.high());
        corners(lower, point.x(), point.low());
      }
      upper.addAll(lower.reversed());
      return upper;
    }

    private static void corners(List<Point> corners, double x, @Nullable Double y) {
      if (y == null) return;
      if (!corners.isEmpty()) corners.add(Point.at(x, corners.getLast().y()));
      corners.add(Point.at(x, y));
    }
  }

  /**
   * A point.
   *
   * @param low lower end of its 95 % interval along {@link Whiskers}; null without one, as is
   *     {@code high}
   */
  public record Point(double x, double y, @Nullable Double low, @Nullable Double high) {
    /** A point without an interval. */
    public static Point at(double x, double y) {
      return new Point(x, y, null, null);
    }
  }

  /** The largest value of some series along their intervals. */
  public static double most(List<Series> series, Whiskers along) {
    return series.stream().mapToDouble(each -> each.most(along)).max().orElse(0);
  }

  /** Columns of the legend, so that the longest names fit. */
  int legendColumns() {
    int longest = series.stream().mapToInt(each -> each.name().length()).max().orElse(1);
    return Math.clamp(LEGEND / (longest + 6), 1, Math.min(4, series.size()));
  }

  /**
   * The offset that puts the values of each series on a line of their own, so that none hides
   * another.
   */
  public static double offset(int index, int count) {
    double step = Math.min(0.16, 0.7 / count);
    return ((count - 1) / 2.0 - index) * step;
  }
}

package dev.kbx.document;

import dev.kbx.document.Figure.Axis;
import dev.kbx.document.Figure.Join;
import dev.kbx.document.Figure.Point;
import dev.kbx.document.Figure.Series;
import dev.kbx.document.Figure.Tick;
import dev.kbx.document.Figure.Whiskers;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Draws a {@link Figure} with pgfplots, as a LaTeX {@code figure} with caption and label. Its
 * styles are in {@code preamble.tex}.
 */
public final class PgfFigure {
  /** Width of the plot area, cm: beside names of rows there is less room. */
  private static final double NARROW = 8.5;

  private static final double WIDE = 11;

  private static final List<String> MARKS = List.of("*", "square*", "triangle*", "diamond*", "o");

  private static final List<String> DASHES =
      List.of("solid", "dashed", "densely dotted", "dash dot");

  private final Figure figure;
  private final StringBuilder tex = new StringBuilder();

  private PgfFigure(Figure figure) {
    this.figure = figure;
  }

  /** The drawing. */
  public static String of(Figure figure) {
    PgfFigure drawing = new PgfFigure(figure);
    drawing.draw();
    return drawing.tex.toString();
  }

  private void draw() {
    line("\\begin{figure}");
    line("\\centering");
    line("\\begin{tikzpicture}");
    line("\\begin{axis}[");
    options();
    line("]");
    guide(figure.x(), true);
    guide(figure.y(), false);
    for (int i = 0; i < figure.series().size(); i++) band(figure.series().get(i), i);
    for (int i = 0; i < figure.series().size(); i++) series(figure.series().get(i), i);
    line("\\end{axis}");
    line("\\end{tikzpicture}");
    line("\\caption{%s}".formatted(Latex.escape(figure.caption())));
    line("\\label{fig:%s}".formatted(figure.id()));
    line("\\end{figure}");
  }

  private void options() {
    line("  kbx,");
    line(
        "  width=%scm, height=%scm,"
            .formatted(figure.y().label().isEmpty() ? NARROW : WIDE, figure.height()));
    axis("x", figure.x());
    axis("y", figure.y());
    line("  legend columns=%d,".formatted(figure.legendColumns()));
  }

  private void axis(String name, Axis axis) {
    if (axis.log()) line("  %smode=log,".formatted(name));
    line("  %smin=%s, %smax=%s,".formatted(name, number(axis.low()), name, number(axis.high())));
    line("  %slabel={%s},".formatted(name, Latex.escape(axis.label())));
    line(
        "  %stick={%s},"
            .formatted(
                name,
                axis.ticks().stream()
                    .map(tick -> number(tick.at()))
                    .collect(Collectors.joining(","))));
    line(
        "  %sticklabels={%s},"
            .formatted(
                name,
                axis.ticks().stream()
                    .map(Tick::label)
                    .map(label -> "{" + Latex.escape(label) + "}")
                    .collect(Collectors.joining(","))));
  }

  private void guide(Axis axis, boolean vertical) {
    Double at = axis.guide();
    if (at == null) return;
    String from =
        vertical
            ? number(at) + "," + number(figure.y().low())
            : number(figure.x().low()) + "," + number(at);
    String to =
        vertical
            ? number(at) + "," + number(figure.y().high())
            : number(figure.x().high()) + "," + number(at);
    line("\\addplot[kbx guide, forget plot] coordinates {(%s) (%s)};".formatted(from, to));
  }

  private void band(Series series, int index) {
    List<Point> band = series.band();
    if (band.isEmpty()) return;
    line(
        "\\addplot[draw=none, fill=%s, fill opacity=0.12, forget plot] coordinates {%s} -- cycle;"
            .formatted(colour(index), coordinates(band)));
  }

  private void series(Series series, int index) {
    String style =
        "%s, %s, mark=%s"
            .formatted(
                colour(index),
                series.join() == Join.NONE ? "only marks" : dash(index) + ", line width=0.9pt",
                series.join() == Join.STEPS ? "none" : MARKS.get(index % MARKS.size()));
    if (series.join() == Join.STEPS) {
      line("\\addplot[%s] coordinates {%s};".formatted(style, coordinates(series.line())));
    } else {
      String along = figure.whiskers() == Whiskers.ALONG_X ? "x" : "y";
      line(
          "\\addplot[%s, error bars/.cd, %s dir=both, %s explicit, error mark=none] coordinates {"
              .formatted(style, along, along));
      for (Point point : series.points()) line("  %s".formatted(whisker(point)));
      line("};");
    }
    line("\\addlegendentry{%s}".formatted(Latex.escape(series.name())));
  }

  /** A point with the distances to the ends of its interval, as pgfplots asks for. */
  private String whisker(Point point) {
    String at = "(%s,%s)".formatted(number(point.x()), number(point.y()));
    if (point.low() == null || point.high() == null) return at;
    boolean along = figure.whiskers() == Whiskers.ALONG_X;
    double value = along ? point.x() : point.y();
    String up = number(Math.max(0, point.high() - value));
    String down = number(Math.max(0, value - point.low()));
    return along
        ? "%s += (%s,0) -= (%s,0)".formatted(at, up, down)
        : "%s += (0,%s) -= (0,%s)".formatted(at, up, down);
  }

  private static String coordinates(List<Point> points) {
    return points.stream()
        .map(point -> "(%s,%s)".formatted(number(point.x()), number(point.y())))
        .collect(Collectors.joining(" "));
  }

  private static String colour(int index) {
    return "kbx" + (char) ('A' + index % Figure.COLOURS.size());
  }

  private static String dash(int index) {
    return DASHES.get(index / Figure.COLOURS.size() % DASHES.size());
  }

  private static String number(double value) {
    return Axes.number(value);
  }

  private void line(String text) {
    tex.append(text).append('\n');
  }
}

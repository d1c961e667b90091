package dev.kbx.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kbx.document.Figure.Axis;
import dev.kbx.document.Figure.Join;
import dev.kbx.document.Figure.Point;
import dev.kbx.document.Figure.Series;
import dev.kbx.document.Figure.Whiskers;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;

/** Both drawings of a figure show all of its data. */
class FigureTest {
  private static final Figure RATES =
      new Figure(
          "rates",
          "Rates of a_method & <others>, 50 %.",
          Axes.percent("tasks (%)", 90),
          Axes.rows(List.of("a_method", "<b> & c")),
          Whiskers.ALONG_X,
          2,
          List.of(
              new Series(
                  "called",
                  Join.NONE,
                  List.of(new Point(80, 1, 60.0, 90.0), new Point(50, 0, 40.0, 70.0))),
              new Series("correct_1", Join.NONE, List.of(Point.at(30, 1)))));

  private static final Figure STEPS =
      new Figure(
          "budget-calls",
          "Solved.",
          Axes.upTo("calls", 4),
          Axes.percent("solved (%)", 95),
          Whiskers.ALONG_Y,
          6,
          List.of(
              new Series(
                  "refine",
                  Join.STEPS,
                  List.of(
                      new Point(0, 0, 0.0, 49.0),
                      new Point(2, 75, 30.0, 95.0),
                      new Point(4, 75, 30.0, 95.0)))));

  private static org.w3c.dom.Document xml(String svg) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
  }

  private static int count(String text, String part) {
    return (text.length() - text.replace(part, "").length()) / part.length();
  }

  @Test
  void svgIsOneFileWithCaptionAndNames() throws Exception {
    org.w3c.dom.Document svg = xml(SvgFigure.of(RATES));
    assertThat(svg.getElementsByTagName("desc").item(0).getTextContent())
        .isEqualTo(RATES.caption());
    List<String> texts =
        IntStream.range(0, svg.getElementsByTagName("text").getLength())
            .mapToObj(i -> svg.getElementsByTagName("text").item(i).getTextContent())
            .toList();
    assertThat(texts).contains("a_method", "<b> & c", "called", "correct_1", "tasks (%)", "100");
    assertThat(svg.getElementsByTagName("circle").getLength()).as("2 points, 1 key").isEqualTo(3);
    assertThat(SvgFigure.of(RATES)).doesNotContain("href", "script");
  }

  @Test
  void pgfHasPointsWithIntervals() {
    String tex = PgfFigure.of(RATES);
    assertThat(tex)
        .contains("(80,1) += (10,0) -= (20,0)", "(50,0) += (20,0) -= (10,0)", "(30,1)")
        .contains("\\addlegendentry{correct\\_1}", "{a\\_method},{\\textless{}b")
        .contains("\\caption{Rates of a\\_method \\& \\textless{}others\\textgreater{}{,} 50 \\%.}")
        .contains("\\label{fig:rates}");
    assertThat(count(tex, "\\begin{")).isEqualTo(count(tex, "\\end{"));
  }

  @Test
  void stepsHoldUpToTheNextPoint() {
    Series refine = STEPS.series().getFirst();
    assertThat(refine.line())
        .extracting(Point::x, Point::y)
        .map(Object::toString)
        .containsExactly("(0.0, 0.0)", "(2.0, 0.0)", "(2.0, 75.0)", "(4.0, 75.0)", "(4.0, 75.0)");
    assertThat(refine.band()).hasSize(10);
    assertThat(refine.band().getFirst()).isEqualTo(Point.at(0, 49));
    assertThat(refine.band().getLast()).isEqualTo(Point.at(0, 0));
    assertThat(PgfFigure.of(STEPS)).contains("(0,0) (2,0) (2,75) (4,75)", "-- cycle;");
    assertThat(SvgFigure.of(STEPS)).contains("fill-opacity=\"0.12\"");
  }

  @Test
  void axesPlaceValues() {
    Axis ratio = Axes.ratio("p", 0.25, 4);
    assertThat(ratio.place(1)).isEqualTo(0.5);
    assertThat(ratio.place(0.25)).isZero();
    assertThat(ratio.place(100)).isEqualTo(1);
    assertThat(ratio.ticks()).extracting(Figure.Tick::label).containsExactly("0.5", "1", "2");
    assertThat(Axes.ratio("spread", 0.95, 1.5).ticks())
        .extracting(Figure.Tick::label)
        .containsExactly("1", "1.1", "1.2", "1.4");
    assertThat(Axes.percent("share", 60).high()).isEqualTo(100);
    assertThat(Axes.percent("share", 4).high()).isBetween(4.0, 5.0);
    assertThat(Axes.upTo("calls", 37).ticks())
        .extracting(Figure.Tick::label)
        .containsExactly("0", "10", "20", "30");
    assertThat(Axes.upTo("s", 0.9).ticks().getLast().label()).isEqualTo("0.8");
    assertThatThrownBy(() -> new Axis("x", true, 0, 1, List.of(), null))
        .hasMessageContaining("no axis");
  }

  @Test
  void seriesDifferByColourMarkAndDash() {
    List<Series> many =
        IntStream.range(0, 20)
            .mapToObj(i -> new Series("s" + i, Join.LINE, List.of(Point.at(0, i), Point.at(1, i))))
            .toList();
    String tex =
        PgfFigure.of(
            new Figure(
                "many",
                "Many.",
                Axes.upTo("x", 1),
                Axes.percent("y", 90),
                Whiskers.ALONG_Y,
                6,
                many));
    assertThat(tex.lines().filter(line -> line.startsWith("\\addplot")).distinct()).hasSize(20);
  }
}

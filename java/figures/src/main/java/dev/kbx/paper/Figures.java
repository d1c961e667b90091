package dev.kbx.paper;

import dev.kbx.analysis.BudgetCurve;
import dev.kbx.analysis.Deviance;
import dev.kbx.analysis.FactorDeviance;
import dev.kbx.analysis.Iterations;
import dev.kbx.analysis.MethodRates;
import dev.kbx.analysis.MethodRates.OfOutcome;
import dev.kbx.analysis.Outcome;
import dev.kbx.document.Axes;
import dev.kbx.document.Figure;
import dev.kbx.document.Figure.Join;
import dev.kbx.document.Figure.Point;
import dev.kbx.document.Figure.Series;
import dev.kbx.document.Figure.Whiskers;
import dev.kbx.section.BudgetSection;
import dev.kbx.section.Captions;
import dev.kbx.section.MethodNames;
import dev.kbx.verdict.Spent;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The figures that a publication has data for. */
final class Figures {
  /** Height of the plot area of curves, cm. */
  static final double CURVE = 6;

  private static final double ROW = 0.75;

  private final Publication publication;
  private final MethodNames makers;
  private final List<Figure> figures = new ArrayList<>();

  private Figures(Publication publication) {
    this.publication = publication;
    this.makers = publication.makers();
  }

  static List<Figure> of(Publication publication) {
    Figures all = new Figures(publication);
    all.rates();
    all.deviance();
    all.iterations();
    all.figures.addAll(SpeedFigures.of(publication));
    all.budgets();
    return all.figures;
  }

  /** Rows of one height, with room for each series. */
  private static double height(int rows, int series) {
    return Math.max(2, rows * Math.max(ROW, 0.3 * series) + 0.4);
  }

  private void rates() {
    List<MethodRates> methods = publication.analyses().methods().methods();
    if (methods.isEmpty()) return;
    List<Outcome> outcomes =
        methods.getFirst().outcomes().stream().map(OfOutcome::outcome).toList();
    List<Series> series = new ArrayList<>();
    for (int i = 0; i < outcomes.size(); i++) {
      List<Point> points = new ArrayList<>();
      for (int row = 0; row < methods.size(); row++) {
        MethodRates.Share share = methods.get(row).outcomes().get(i).all();
        if (share.share() == null) continue;
        double y = Axes.row(row, methods.size()) + Figure.offset(i, outcomes.size());
        points.add(percent(share.share(), y, share.low(), share.high()));
      }
      if (!points.isEmpty()) series.add(new Series(outcomes.get(i).label(), Join.NONE, points));
    }
    if (series.isEmpty()) return;
    figures.add(
        new Figure(
            "rates",
            "Share of all %d tasks asked for that each method passes, by outcome, with its 95 %% interval. %s"
                .formatted(publication.analyses().methods().entered().asked(), Captions.rates()),
            Axes.percent("tasks (%)", Figure.most(series, Whiskers.ALONG_X)),
            Axes.rows(methods.stream().map(each -> makers.of(each.maker())).toList()),
            Whiskers.ALONG_X,
            height(methods.size(), series.size()),
            series));
  }

  private static Point percent(
      double share, double y, @Nullable Double low, @Nullable Double high) {
    return new Point(
        share * 100,
        y,
        low == null ? null : (Double) (low * 100),
        high == null ? null : (Double) (high * 100));
  }

  private void deviance() {
    List<Deviance.Measure> measures =
        publication.analyses().deviance().outcomes().stream()
            .filter(measure -> !measure.factors().isEmpty())
            .toList();
    if (measures.isEmpty()) return;
    List<String> factors =
        measures.stream()
            .flatMap(measure -> measure.factors().stream())
            .map(FactorDeviance::factor)
            .distinct()
            .toList();
    List<Series> series = new ArrayList<>();
    for (int i = 0; i < measures.size(); i++) {
      List<Point> points = new ArrayList<>();
      for (FactorDeviance factor : measures.get(i).factors()) {
        int row = factors.indexOf(factor.factor());
        double y = Axes.row(row, factors.size()) + Figure.offset(i, measures.size());
        points.add(percent(factor.explained(), y, factor.low(), factor.high()));
      }
      series.add(new Series(measures.get(i).outcome().label(), Join.NONE, points));
    }
    figures.add(
        new Figure(
            "deviance",
            Captions.deviance(),
            Axes.percent("explained deviance (%)", Figure.most(series, Whiskers.ALONG_X)),
            Axes.rows(factors),
            Whiskers.ALONG_X,
            height(factors.size(), series.size()),
            series));
  }

  private void iterations() {
    Iterations iterations = publication.analyses().iterations();
    if (iterations == null) return;
    List<Series> series = new ArrayList<>();
    int first = Integer.MAX_VALUE;
    int last = 0;
    for (Iterations.OfMethod method : iterations.methods()) {
      List<Point> points = new ArrayList<>();
      for (Iterations.Round round : method.rounds()) {
        first = Math.min(first, round.round());
        last = Math.max(last, round.round());
        points.add(swapped(percent(round.share(), round.round(), round.low(), round.high())));
      }
      series.add(new Series(makers.of(method.method(), method.model()), Join.LINE, points));
    }
    figures.add(
        new Figure(
            "iterations",
            Captions.iterations(iterations.entered().asked()),
            Axes.whole("round", first, last),
            Axes.percent("solved (%)", Figure.most(series, Whiskers.ALONG_Y)),
            Whiskers.ALONG_Y,
            CURVE,
            series));
  }

  private static Point swapped(Point point) {
    return new Point(point.y(), point.x(), point.low(), point.high());
  }

  private void budgets() {
    for (Spent.Kind kind : Spent.Kind.values()) {
      Map<String, BudgetCurve> curves = curves(kind);
      if (!curves.isEmpty()) figures.add(BudgetSection.figure(kind, curves));
    }
  }

  /** Curves of a kind by name; runs are named where there are several. */
  private Map<String, BudgetCurve> curves(Spent.Kind kind) {
    Map<String, BudgetCurve> curves = new LinkedHashMap<>();
    for (BudgetSection.Curves budget : publication.budgets()) {
      for (BudgetCurve curve : budget.curves()) {
        if (curve.kind() != kind || curve.unknown() != null) continue;
        String name = makers.of(curve.method(), curve.model());
        curves.put(publication.budgets().size() == 1 ? name : name + ", " + budget.run(), curve);
      }
    }
    return curves;
  }
}

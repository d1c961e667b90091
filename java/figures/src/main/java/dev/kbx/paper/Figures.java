package dev.kbx.paper;

import dev.kbx.analysis.BudgetCurve;
import dev.kbx.analysis.Deviance;
import dev.kbx.analysis.Explained;
import dev.kbx.analysis.FactorDeviance;
import dev.kbx.analysis.FastP;
import dev.kbx.analysis.Iterations;
import dev.kbx.analysis.MethodRates;
import dev.kbx.analysis.MethodRates.OfOutcome;
import dev.kbx.analysis.Outcome;
import dev.kbx.analysis.Portability;
import dev.kbx.document.Axes;
import dev.kbx.document.Figure;
import dev.kbx.document.Figure.Axis;
import dev.kbx.document.Figure.Join;
import dev.kbx.document.Figure.Point;
import dev.kbx.document.Figure.Series;
import dev.kbx.document.Figure.Tick;
import dev.kbx.document.Figure.Whiskers;
import dev.kbx.section.BudgetSection;
import dev.kbx.section.Captions;
import dev.kbx.section.MethodNames;
import dev.kbx.section.SeriesSection;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
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
            "Share of the tasks that each method tried that it passes, by outcome, with its 95 %% interval. %s"
                .formatted(Captions.rates()),
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
        Explained model = factor.model();
        points.add(percent(model.explained(), y, model.low(), model.high()));
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
        Double share = round.share();
        if (share == null) return;
        points.add(swapped(percent(share, round.round(), round.low(), round.high())));
      }
      series.add(new Series(makers.of(method.method(), method.model()), Join.LINE, points));
    }
    figures.add(
        new Figure(
            "iterations",
            Captions.iterations(iterations.entered()),
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
    for (BudgetCurve.Kind kind : BudgetCurve.Kind.values()) {
      Map<String, BudgetCurve> curves = curves(kind);
      if (!curves.isEmpty()) figures.add(BudgetSection.figure(kind, curves));
    }
  }

  /** Curves of a kind by name; runs are named where there are several. */
  private Map<String, BudgetCurve> curves(BudgetCurve.Kind kind) {
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

  /** Figures of timed runs: fast_p curves, and how speedups spread over devices. */
  static final class SpeedFigures {
    /** Points of a curve; TeX has little memory. */
    private static final int POINTS = 300;

    /** Series whose bands can be told apart. */
    private static final int BANDS = 5;

    /** Kernels whose intervals can be told apart. */
    private static final int KERNELS = 120;

    private SpeedFigures() {}

    static List<Figure> of(Publication publication) {
      List<Figure> figures = new ArrayList<>();
      List<String> baselines =
          publication.fastp().stream()
              .flatMap(each -> each.against().stream())
              .map(FastP.Against::baseline)
              .distinct()
              .toList();
      for (String baseline : baselines) fastP(figures, publication, baseline);
      if (publication.portability() != null) spread(figures, publication.portability());
      return figures;
    }

    private static void fastP(List<Figure> figures, Publication publication, String baseline) {
      List<FastP> all = publication.fastp();
      List<FastP> shown = last(all);
      SeriesSection.Names names =
          new SeriesSection.Names(shown.stream().map(FastP::series).toList(), publication.makers());
      List<Series> series = new ArrayList<>();
      List<String> unknown = new ArrayList<>();
      double least = 0.5;
      double most = 2;
      for (FastP each : shown) {
        List<FastP.Point> curve = curve(each, baseline);
        for (FastP.Point point : curve) {
          if (point.p() > 0) least = Math.min(least, point.p() / 1.2);
          most = Math.max(most, point.p() * 1.2);
        }
        if (curve.isEmpty()) unknown.add(names.of(each.series()));
        else series.add(new Series(names.of(each.series()), Join.STEPS, points(curve)));
      }
      if (series.isEmpty()) return;
      boolean bands = series.size() <= BANDS;
      Axis x = Axes.ratio("p (speedup against " + baseline + ")", least, most);
      figures.add(
          new Figure(
              "fastp-" + Slug.of(baseline),
              Captions.fastP(baseline)
                  + " The left end of a curve is the share of correct ones, however fast. "
                  + (bands ? "Bands are Wilson's 95 % intervals." : "The table has the intervals.")
                  + (shown.size() < timed(all) ? " Of several rounds the last one." : "")
                  + (unknown.isEmpty()
                      ? ""
                      : " Without a curve, as a correct candidate has no speedup: %s."
                          .formatted(String.join("; ", unknown))),
              x,
              Axes.percent("tasks (%)", Figure.most(series, Whiskers.ALONG_Y)),
              Whiskers.ALONG_Y,
              Figures.CURVE,
              series.stream().map(one -> within(one, x, bands)).toList()));
    }

    private static long timed(List<FastP> all) {
      return all.stream().filter(each -> each.untimed() == null).count();
    }

    /** The curve against a baseline; empty where it or a share is not known. */
    private static List<FastP.Point> curve(FastP fast, String baseline) {
      for (FastP.Against against : fast.against()) {
        if (!against.baseline().equals(baseline)) continue;
        List<FastP.Point> curve = against.overall().curve();
        if (curve == null || curve.stream().anyMatch(point -> point.share() == null))
          return List.of();
        return curve;
      }
      return List.of();
    }

    private static List<Point> points(List<FastP.Point> curve) {
      List<Point> points = new ArrayList<>();
      int count = Math.min(POINTS, curve.size());
      for (int i = 0; i < count; i++) {
        int at = count == 1 ? 0 : (int) ((long) i * (curve.size() - 1) / (count - 1));
        FastP.Point point = curve.get(at);
        if (point.share() == null || point.low() == null || point.high() == null) continue;
        points.add(
            new Point(point.p(), point.share() * 100, point.low() * 100, point.high() * 100));
      }
      return points;
    }

    /**
     * A series from the left end of the axis, where a share holds from p = 0 on, to its right end.
     */
    private static Series within(Series series, Axis x, boolean bands) {
      List<Point> points = new ArrayList<>();
      for (Point point : series.points())
        points.add(at(Math.max(point.x(), x.low()), point, bands));
      points.add(at(x.high(), points.getLast(), bands));
      return new Series(series.name(), series.join(), points);
    }

    private static Point at(double x, Point point, boolean bands) {
      return bands ? new Point(x, point.y(), point.low(), point.high()) : Point.at(x, point.y());
    }

    /** The timed series; of several rounds in a run the last one, as curves hide each other. */
    private static List<FastP> last(List<FastP> all) {
      Map<List<@Nullable Object>, FastP> last = new LinkedHashMap<>();
      for (FastP each : all) {
        if (each.untimed() != null) continue;
        last.put(
            Arrays.asList(each.series().run().id(), each.series().method(), each.series().model()),
            each);
      }
      return List.copyOf(last.values());
    }

    private static void spread(List<Figure> figures, Portability portability) {
      List<Portability.MaxOverMin> spreads =
          portability.kernels().stream()
              .map(Portability.Kernel::maxOverMin)
              .sorted(Comparator.comparingDouble(Portability.MaxOverMin::value))
              .toList();
      if (spreads.isEmpty()) return;
      boolean few = spreads.size() <= KERNELS;
      List<Point> points = new ArrayList<>();
      double most = 1.4;
      for (int i = 0; i < spreads.size(); i++) {
        Portability.MaxOverMin each = spreads.get(i);
        points.add(
            few
                ? new Point(i + 1, each.value(), each.low(), each.high())
                : Point.at(i + 1, each.value()));
        most = Math.max(most, few ? each.high() : each.value());
      }
      List<Point> shown = few ? points : thinned(points);
      List<Tick> ends = List.of(new Tick(1, "1"), new Tick(spreads.size(), spreads.size() + ""));
      figures.add(
          new Figure(
              "spread",
              "Largest ÷ smallest speedup of each kernel over %d devices, of %d kernels that are correct and timed on all of them, in ascending order%s. Each speedup is against %s on the same device."
                  .formatted(
                      portability.devices().size(),
                      portability.entered(),
                      few ? ", with 95 % intervals" : "",
                      portability.baseline()),
              new Axis("kernels, by spread", false, 0, spreads.size() + 1.0, ends, null),
              Axes.ratio("largest ÷ smallest speedup", 0.95, most * 1.05),
              Whiskers.ALONG_Y,
              Figures.CURVE,
              List.of(new Series("kernel", Join.NONE, shown))));
    }

    private static List<Point> thinned(List<Point> points) {
      if (points.size() <= POINTS) return points;
      List<Point> some = new ArrayList<>();
      for (int i = 0; i < POINTS; i++) {
        some.add(points.get((int) ((long) i * (points.size() - 1) / (POINTS - 1))));
      }
      return some;
    }

    /** Names of files and labels: lower-case letters, digits and hyphens. */
    private static final class Slug {
      private Slug() {}

      static String of(String name) {
        String slug = name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-");
        return slug.replaceAll("^-|-$", "");
      }
    }
  }
}

package dev.kbx.section;

import dev.kbx.analysis.Finding;
import dev.kbx.analysis.Finding.Breaking;
import dev.kbx.analysis.Finding.Failure;
import dev.kbx.analysis.MethodRates;
import dev.kbx.analysis.Methods;
import dev.kbx.analysis.Outcome;
import dev.kbx.analysis.Ranking.Place;
import dev.kbx.analysis.Ranking.Versus;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.Counted;
import dev.kbx.document.Section;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** {@link Finding} in words with its evidence, and the methods and models in their order. */
public final class FindingSection {
  /** So many are named in a sentence. */
  private static final int NAMED = 3;

  private final Finding finding;
  private final Methods methods;
  private final MethodNames names;

  private FindingSection(Finding finding, Methods methods) {
    this.finding = finding;
    this.methods = methods;
    names = MethodNames.of(methods.entered());
  }

  /** The sentences and the table; empty without a judged candidate. */
  public static Section of(Finding finding, Methods methods) {
    FindingSection section = new FindingSection(finding, methods);
    Blocks blocks = new Blocks();
    String words = String.join(" ", section.sentences()).strip();
    if (!words.isEmpty()) blocks.prose("%s", words);
    section.ranking(blocks);
    return blocks.section("finding", "Result");
  }

  /** Who solves most, in one line; null where that is not known. */
  public static @Nullable String headline(Finding finding, Methods methods) {
    return finding.ranking().places().isEmpty()
        ? null
        : new FindingSection(finding, methods).solves();
  }

  /** The sentences after the headline. */
  public static String evidence(Finding finding, Methods methods) {
    FindingSection section = new FindingSection(finding, methods);
    List<String> sentences = new ArrayList<>();
    String certain = section.certain();
    if (!certain.isEmpty()) {
      sentences.add(Character.toUpperCase(certain.charAt(0)) + certain.substring(1) + ".");
    }
    sentences.add(rest(finding));
    return String.join(" ", sentences).strip();
  }

  /** The table alone, of several methods or models. */
  public static Section ranked(Finding finding, Methods methods) {
    Blocks blocks = new Blocks();
    if (finding.ranking().places().size() > 1) {
      new FindingSection(finding, methods).ranking(blocks);
    }
    return blocks.section("finding", "Result");
  }

  private List<String> sentences() {
    List<String> sentences = new ArrayList<>();
    String certain = certain();
    if (!finding.ranking().places().isEmpty()) {
      sentences.add(solves() + (certain.isEmpty() ? "" : "; " + certain) + ".");
    }
    sentences.add(rest(finding));
    return sentences;
  }

  private Place best() {
    return finding.ranking().places().getFirst();
  }

  /** {@code opus-large solves most: 75.0 % [67–83] of 30 tasks}. */
  private String solves() {
    Place best = best();
    int tasks = rates(best).tasks();
    return "%s %s %s of %s"
        .formatted(
            names.of(best.maker()),
            finding.ranking().places().size() > 1 && best.tiedWith() == null
                ? "solves most:"
                : names.of(best.maker()).equals(MethodNames.ALL) ? "solve" : "solves",
            share(best).text(),
            Counted.of(tasks, "task"));
  }

  private static Cell share(Place place) {
    return Cell.share(place.correct().value(), place.correct().low(), place.correct().high());
  }

  /** Whom the first is ahead of, and whom it is not told apart from; empty if it is alone. */
  private String certain() {
    if (finding.ranking().places().isEmpty()) return "";
    List<String> parts = new ArrayList<>();
    List<Versus> ahead = best().ahead();
    if (!ahead.isEmpty()) parts.add("ahead of " + named(ahead));
    List<Place> tied =
        finding.ranking().places().stream().skip(1).filter(place -> place.rank() == 1).toList();
    List<String> named = new ArrayList<>();
    for (Place each : Blocks.first(NAMED, tied)) {
      Versus versus = each.tiedWith();
      if (versus != null) named.add(against(new Versus(each.maker(), versus.tasks(), versus.p())));
    }
    if (!named.isEmpty()) {
      String more = tied.size() > NAMED ? ", nor from %d more".formatted(tied.size() - NAMED) : "";
      parts.add("not told apart from " + and(named) + more);
    }
    return String.join("; ", parts);
  }

  private String named(List<Versus> others) {
    if (others.size() > NAMED) {
      double largest = others.stream().mapToDouble(Versus::p).max().orElse(1);
      return "%d others (largest %s)".formatted(others.size(), Captions.p(largest));
    }
    List<String> each =
        others.stream()
            .map(other -> "%s (%s)".formatted(names.of(other.other()), Captions.p(other.p())))
            .toList();
    return and(each);
  }

  private static String and(List<String> each) {
    return each.size() < 2
        ? each.getFirst()
        : String.join(", ", each.subList(0, each.size() - 1)) + " and " + each.getLast();
  }

  /** What goes wrong most, and how many tasks were tried; empty if nothing is to be said. */
  public static String rest(Finding finding) {
    List<String> sentences = new ArrayList<>();
    Failure failure = finding.failure();
    if (failure != null) {
      boolean all = failure.inCategory() == failure.candidates();
      sentences.add(
          "Most frequent failure: %s, %d of %d%s."
              .formatted(
                  failure.status().label().replace('_', ' '),
                  failure.candidates(),
                  failure.of(),
                  all
                      ? ", all in " + failure.category()
                      : ", %d of these in %s".formatted(failure.inCategory(), failure.category())));
    }
    Breaking breaking = finding.breaking();
    if (breaking != null) {
      sentences.add(
          "%d of %s right at the published grade break on %s."
              .formatted(
                  breaking.candidates(),
                  Counted.of(breaking.of(), "candidate"),
                  breaking.property()));
    }
    if (finding.tasks() < finding.asked()) {
      sentences.add("Tried: %d of %d tasks.".formatted(finding.tasks(), finding.asked()));
    }
    return String.join(" ", sentences);
  }

  // ---------------------------------------------------------------- the table

  private MethodRates rates(Place place) {
    return methods.methods().stream()
        .filter(each -> each.maker().equals(place.maker()))
        .findFirst()
        .orElseThrow();
  }

  private void ranking(Blocks blocks) {
    List<Place> places = finding.ranking().places();
    Map<Place, MethodRates> rates = new HashMap<>();
    for (Place place : places) rates.put(place, rates(place));
    List<Column.Of<Place>> columns = new ArrayList<>();
    columns.add(
        new Column.Of<>(
            Column.text("method"),
            each -> Cell.link(Cell.text(names.of(each.maker())), Filters.of(each.maker()))));
    columns.add(Column.number("correct", FindingSection::share));
    if (places.size() > 1) columns.add(Column.number("rank", FindingSection::rank));
    columns.add(
        Column.number(
            "tasks tried",
            each ->
                Cell.part(
                    Objects.requireNonNull(rates.get(each)).tasks(), methods.entered().asked())));
    columns.add(Column.number("general", each -> general(Objects.requireNonNull(rates.get(each)))));
    if (rates.values().stream().anyMatch(each -> each.speedup() != null)) {
      columns.add(
          Column.number(
              "speedup",
              each -> MethodsSection.speedup(Objects.requireNonNull(rates.get(each)).speedup())));
    }
    if (places.size() > 1) {
      columns.add(Column.<Place>text("why this rank", this::told).optional());
    }
    blocks.stacked("ranking", "", columns, places);
    if (places.isEmpty()) return;
    blocks.note(
        "%s",
        "Correct: of the tasks that each tried, with 95 % intervals."
            + (places.size() > 1 ? " Ranks: " + Captions.ranks() : ""));
  }

  private static Cell rank(Place place) {
    return Cell.text(place.rank() + (place.tiedWith() == null ? "" : " tied"));
  }

  private static Cell general(MethodRates rates) {
    return rates.outcomes().stream()
        .filter(each -> each.outcome() == Outcome.GENERAL)
        .map(each -> MethodsSection.share(each.all()))
        .findFirst()
        .orElseGet(Cell::missing);
  }

  /** The test against one ahead of it, or else of its own rank. */
  private @Nullable String told(Place place) {
    Versus behind = place.behind();
    Versus tied = place.tiedWith();
    if (behind != null) return "behind " + against(behind);
    return tied == null
        ? place.ahead().stream()
            .max(Comparator.comparingDouble(Versus::p))
            .map(each -> "ahead of " + against(each))
            .orElse(null)
        : "not told apart from " + against(tied);
  }

  private String against(Versus versus) {
    return "%s (%s)".formatted(names.of(versus.other()), Captions.on(versus.p(), versus.tasks()));
  }
}

package dev.kbx.section;

import dev.kbx.analysis.Errors;
import dev.kbx.analysis.Errors.OfMessage;
import dev.kbx.analysis.Errors.OfProperty;
import dev.kbx.analysis.Errors.OfRule;
import dev.kbx.analysis.Errors.OfStatus;
import dev.kbx.analysis.Errors.Structures.Cluster;
import dev.kbx.analysis.Errors.Structures.Variety;
import dev.kbx.analysis.Errors.Structures.VarietyOfMaker;
import dev.kbx.analysis.Inclusion.Made;
import dev.kbx.analysis.MethodAndModel;
import dev.kbx.document.Cell;
import dev.kbx.document.Column;
import dev.kbx.document.Counted;
import dev.kbx.document.Section;
import dev.kbx.document.Text;
import dev.kbx.section.AdvisedErrors.Advice;
import dev.kbx.verdict.Judgement;
import java.util.ArrayList;
import java.util.List;

/** {@link AdvisedErrors}: statuses, rules, messages, properties, advice, near-duplicates. */
public final class ErrorsSection {
  /** Methods beside each other in the table of statuses. */
  private static final int METHODS = 6;

  private static final int ROWS = 15;
  private static final int ADVICE = 8;
  private static final int CLUSTERS = 5;

  /** Characters of a message, and of an example. */
  private static final int LONGEST = 160;

  private final Errors errors;
  private final AdvisedErrors advised;
  private final Blocks blocks = new Blocks();

  private ErrorsSection(AdvisedErrors advised) {
    this.advised = advised;
    errors = advised.errors();
  }

  public static Section of(AdvisedErrors advised) {
    ErrorsSection section = new ErrorsSection(advised);
    section.why();
    section.details();
    return section.blocks.section("errors", "What goes wrong");
  }

  /** The statuses with an example each, and the line of advice that is about most failures. */
  public static Section why(AdvisedErrors advised) {
    ErrorsSection section = new ErrorsSection(advised);
    section.why();
    return section.blocks.section("why", "Why");
  }

  /** What {@link #why} leaves out. */
  public static Section details(AdvisedErrors advised) {
    ErrorsSection section = new ErrorsSection(advised);
    section.details();
    return section.blocks.section("errors", "Failures in detail").fold();
  }

  private void why() {
    int earlier = errors.entered().leftOut().earlierRounds();
    blocks.prose(
        failed(errors)
            + (earlier == 0 ? "." : "; %d of earlier rounds are left out.".formatted(earlier)));
    advised.advice().stream()
        .findFirst()
        .ifPresent(
            most -> blocks.note("Advice for %d of them: %s", most.candidates(), most.line()));
    statuses();
  }

  private void details() {
    rules();
    messages();
    properties();
    advice();
    structures();
  }

  /** {@code 3 of 20 candidates are not correct}. */
  static String failed(Errors errors) {
    String of = Counted.of(errors.entered().candidates(), "candidate");
    return errors.uncompared() == null
        ? "%d of %s %s not correct"
            .formatted(errors.failed(), of, errors.failed() == 1 ? "is" : "are")
        : "%d of %s failed; not all results were compared, as %s"
            .formatted(errors.failed(), of, errors.uncompared());
  }

  private Cell share(int candidates, int of) {
    return of == 0 ? Cell.missing() : Cell.share((double) candidates / of);
  }

  private void statuses() {
    List<Column.Of<OfStatus>> columns = new ArrayList<>();
    columns.add(Column.text("stage", each -> each.stage().label()));
    columns.add(
        new Column.Of<>(
            Column.text("status"),
            each ->
                Cell.link(
                    RatesSection.label(each.status()),
                    Filters.of("status", each.status().label()))));
    columns.add(Column.number("candidates", each -> Cell.count(each.candidates())));
    columns.add(
        Column.number("share", each -> share(each.candidates(), errors.entered().candidates())));
    columns.add(Column.number("tasks", each -> Cell.count(each.tasks())));
    List<Made> made = errors.entered().made();
    MethodNames names = MethodNames.of(errors.entered());
    if (made.size() > 1) {
      for (Made each : Blocks.first(METHODS, made)) {
        columns.add(
            Column.number(names.of(each.method(), each.model()), status -> count(status, each)));
      }
    }
    columns.add(Column.text("for example", this::example).wrapped());
    blocks.table(
        "errors",
        "Failed candidates by the stage and status that decided: %d in all."
            .formatted(errors.failed()),
        columns,
        errors.statuses());
    if (made.size() > METHODS) {
      blocks.note(
          "… and the columns of %d more methods, in the JSON document.", made.size() - METHODS);
    }
  }

  /** The first of the most frequent message. */
  private String example(OfStatus status) {
    return errors.messages().stream()
        .filter(each -> each.status() == status.status())
        .findFirst()
        .map(each ->
            "%s (%s): %s"
                .formatted(
                    each.task(),
                    each.source(),
                    Text.cut(Text.clean(Judgement.findingFirst(each.example())), LONGEST)))
        .orElse("");
  }

  private static Cell count(OfStatus status, Made made) {
    MethodAndModel maker = new MethodAndModel(made.method(), made.model());
    int count =
        status.makers().stream()
            .filter(each -> each.maker().equals(maker))
            .mapToInt(Errors.OfMaker::candidates)
            .sum();
    return count == 0
        ? Cell.count(count)
        : Cell.link(Cell.count(count), Filters.of(maker, "status", status.status().label()));
  }

  private void rules() {
    blocks.first(
        ROWS,
        "rules",
        "Static rules that reject candidates.",
        List.of(
            Column.text("rule", OfRule::rule),
            Column.number("candidates", each -> Cell.count(each.candidates())),
            Column.number("tasks", each -> Cell.count(each.tasks()))),
        errors.rules());
  }

  private void messages() {
    blocks.first(
        ROWS,
        "messages",
        "The most frequent messages, without numbers, names and paths, each with an example.",
        List.of(
            Column.number("candidates", each -> Cell.count(each.candidates())),
            Column.<OfMessage>number("tasks", each -> Cell.count(each.tasks())).optional(),
            new Column.Of<>(Column.text("status"), each -> RatesSection.label(each.status())),
            Column.<OfMessage>text("message", ErrorsSection::message).wrapped()),
        errors.messages());
  }

  private static String message(OfMessage each) {
    return "%s. %s (%s): %s"
        .formatted(
            Text.cut(Text.clean(each.shape()), LONGEST),
            each.task(),
            each.source(),
            Text.cut(Text.clean(Judgement.findingFirst(each.example())), LONGEST));
  }

  private void properties() {
    blocks.first(
        ROWS,
        "broken-properties",
        "Properties on which the %s right as published break."
            .formatted(Counted.of(errors.publishedOk(), "candidate")),
        List.of(
            Column.text("breaks on", OfProperty::property),
            Column.number("candidates", each -> Cell.count(each.candidates())),
            Column.number("tasks", each -> Cell.count(each.tasks()))),
        errors.properties());
  }

  private void advice() {
    advice(
        "advice",
        "Advice, by the number of failed candidates that it is about.",
        advised.advice(),
        errors.failed());
    advice(
        "advice-general",
        "The same for candidates right at the published grade that break beyond it.",
        advised.general(),
        errors.publishedOk());
  }

  private void advice(String id, String caption, List<Advice> advice, int of) {
    blocks.table(
        id,
        caption,
        List.of(
            Column.number("candidates", each -> Cell.count(each.candidates())),
            Column.number("share", each -> share(each.candidates(), of)),
            Column.text("advice", Advice::line).wrapped()),
        Blocks.first(ADVICE, advice));
  }

  private record Named(String name, Variety variety) {}

  private void structures() {
    Errors.Structures structures = errors.structures();
    MethodNames names = MethodNames.of(errors.entered());
    if (structures.all().candidates() > structures.all().tasks()) {
      List<Named> rows = new ArrayList<>(List.of(new Named("all", structures.all())));
      if (structures.makers().size() > 1) {
        for (VarietyOfMaker each : structures.makers()) {
          rows.add(new Named(names.of(each.maker()), each.variety()));
        }
      }
      blocks.first(
          ROWS,
          "near-duplicates",
          "Structures: sources on one task that differ only in names, constants, comments and"
              + " layout count as one.",
          List.of(
              Column.text("near-duplicates", Named::name),
              Column.number("candidates", row -> Cell.count(row.variety.candidates())),
              Column.number("tasks", row -> Cell.count(row.variety.tasks())),
              Column.number("sources", row -> Cell.count(row.variety.sources())),
              Column.number("structures", row -> Cell.count(row.variety.structures()))),
          rows);
      blocks.first(
          CLUSTERS,
          "clusters",
          "The largest groups of one structure.",
          List.of(
              Column.number("candidates", each -> Cell.count(each.candidates())),
              Column.text("task", Cluster::task),
              Column.number("sources", each -> Cell.count(each.sources())),
              Column.number("correct", each -> Cell.count(each.correct())),
              Column.text("such as", Cluster::source)),
          structures.clusters());
    }
    if (structures.unknown() > 0 && structures.all().candidates() > 0) {
      blocks.note(
          "Of unknown structure, as the source does not parse or an earlier version judged it:"
              + " %d.",
          structures.unknown());
    }
  }
}

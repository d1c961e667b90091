package dev.kbx.report;

import dev.kbx.analysis.Entered;
import dev.kbx.analysis.Errors;
import dev.kbx.analysis.Errors.OfMaker;
import dev.kbx.analysis.Errors.OfMessage;
import dev.kbx.analysis.Errors.OfProperty;
import dev.kbx.analysis.Errors.OfRule;
import dev.kbx.analysis.Errors.OfStatus;
import dev.kbx.document.Grid;
import dev.kbx.document.Text;
import dev.kbx.report.AdvisedErrors.Advice;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/**
 * {@link AdvisedErrors} for a terminal.
 *
 * @param width columns of the terminal
 */
public record ErrorsText(int width) {
  /** Columns of methods in the table of statuses. */
  private static final int MAKERS = 6;

  private static final int MESSAGES = 12;
  private static final int EXAMPLE_LINES = 3;
  private static final int ADVICE = 8;
  private static final int GROUPS = 15;
  private static final String INDENT = "    ";

  /** The text, ending in a line break. */
  public String render(AdvisedErrors advised) {
    PoolText text = new PoolText(width);
    Errors errors = advised.errors();
    boolean several = errors.entered().made().size() > 1;
    List<String> lines =
        new ArrayList<>(
            several ? text.headWithLetters(errors.entered()) : text.head(errors.entered()));
    lines.add("");
    lines.addAll(text.wrap(failed(errors) + "."));
    if (!errors.statuses().isEmpty()) lines.addAll(statuses(errors));
    lines.addAll(rules(errors.rules()));
    lines.addAll(messages(errors.messages()));
    lines.addAll(properties(errors));
    lines.addAll(
        advice(
            "Advice, by the number of failed candidates that it is about:",
            advised.advice(),
            errors.failed()));
    lines.addAll(
        advice(
            "The same for candidates right at the published grade that break beyond it:",
            advised.general(),
            errors.publishedOk()));
    lines.addAll(new StructuresText(width).lines(errors.structures()));
    return String.join("\n", lines) + "\n";
  }

  /** {@code 3 of 20 candidates are not correct}. */
  static String failed(Errors errors) {
    String of = Counted.of(errors.entered().candidates(), "candidate");
    return errors.uncompared() == null
        ? "%d of %s are not correct".formatted(errors.failed(), of)
        : "%d of %s failed; not all results were compared, as %s"
            .formatted(errors.failed(), of, errors.uncompared());
  }

  private List<String> statuses(Errors errors) {
    Entered entered = errors.entered();
    int makers = entered.made().size() > 1 ? Math.min(MAKERS, entered.made().size()) : 0;
    List<List<String>> rows = new ArrayList<>();
    List<String> head = new ArrayList<>(List.of("stage", "status", "candidates", "", "tasks"));
    for (int i = 0; i < makers; i++) head.add(PoolText.letter(i));
    rows.add(head);
    for (OfStatus each : errors.statuses()) {
      List<String> row =
          new ArrayList<>(
              List.of(
                  each.stage().label(),
                  each.status().label(),
                  Integer.toString(each.candidates()),
                  percent(each.candidates(), entered.candidates()),
                  Integer.toString(each.tasks())));
      for (int i = 0; i < makers; i++) row.add(count(each, entered.made().get(i)));
      rows.add(row);
    }
    List<String> lines =
        new ArrayList<>(new Grid("ll" + "r".repeat(head.size() - 2), rows).lines(width));
    int more = entered.made().size() - MAKERS;
    if (more > 0) lines.add("… and the columns of %d more, in --json".formatted(more));
    return lines;
  }

  private static String count(OfStatus status, Entered.Made made) {
    return status.makers().stream()
        .filter(each ->
            Objects.equals(each.maker().method(), made.method())
                && Objects.equals(each.maker().model(), made.model()))
        .map(OfMaker::candidates)
        .findFirst()
        .map(String::valueOf)
        .orElse("");
  }

  private List<String> rules(List<OfRule> rules) {
    if (rules.isEmpty()) return List.of();
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("rule", "candidates", "tasks"));
    for (OfRule each : rules.subList(0, Math.min(GROUPS, rules.size()))) {
      rows.add(
          List.of(
              Text.clean(each.rule()),
              Integer.toString(each.candidates()),
              Integer.toString(each.tasks())));
    }
    return table(rows, rules.size());
  }

  private List<String> properties(Errors errors) {
    List<OfProperty> properties = errors.properties();
    if (properties.isEmpty()) return List.of();
    List<List<String>> rows = new ArrayList<>();
    rows.add(
        List.of(
            "right as published, breaks on",
            "of " + errors.publishedOk() + " candidates",
            "tasks"));
    for (OfProperty each : properties.subList(0, Math.min(GROUPS, properties.size()))) {
      rows.add(
          List.of(
              Text.clean(each.property()),
              Integer.toString(each.candidates()),
              Integer.toString(each.tasks())));
    }
    return table(rows, properties.size());
  }

  private List<String> table(List<List<String>> rows, int all) {
    List<String> lines = new ArrayList<>(List.of(""));
    lines.addAll(new Grid("lrr", rows).lines(width));
    if (all > GROUPS) lines.add("… and %d more, in --json".formatted(all - GROUPS));
    return lines;
  }

  /** The most frequent messages, each with an example. */
  private List<String> messages(List<OfMessage> messages) {
    if (messages.isEmpty()) return List.of();
    List<String> lines = new ArrayList<>(List.of("", "Messages, with numbers and names left out:"));
    for (OfMessage each : messages.subList(0, Math.min(MESSAGES, messages.size()))) {
      lines.add(
          Text.cut(
              "%5d  %s: %s"
                  .formatted(each.candidates(), each.status().label(), Text.clean(each.shape())),
              width));
      String example =
          "%s (%s): %s"
              .formatted(
                  Text.clean(each.task()), Text.clean(each.source()), Text.clean(each.example()));
      for (String line : Text.wrap(example, width - INDENT.length() - 3, EXAMPLE_LINES)) {
        lines.add(INDENT + "   " + line);
      }
    }
    int more = messages.size() - MESSAGES;
    if (more > 0) lines.add("… and %d more, in --json".formatted(more));
    return lines;
  }

  private List<String> advice(String title, List<Advice> advice, int of) {
    if (advice.isEmpty()) return List.of();
    List<String> lines = new ArrayList<>(List.of("", title));
    for (Advice each : advice.subList(0, Math.min(ADVICE, advice.size()))) {
      String count = "%5d %s  ".formatted(each.candidates(), percent(each.candidates(), of));
      List<String> parts = Text.wrap(each.line(), width - Text.columns(count), Integer.MAX_VALUE);
      for (int i = 0; i < parts.size(); i++) {
        lines.add((i == 0 ? count : " ".repeat(Text.columns(count))) + parts.get(i));
      }
    }
    return lines;
  }

  private static String percent(int part, int whole) {
    return String.format(Locale.ROOT, "%3.0f %%", 100.0 * part / Math.max(1, whole));
  }
}

package dev.kbx.report;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.kbx.check.Finding;
import dev.kbx.check.InvalidSource;
import dev.kbx.check.RuleInfo;
import dev.kbx.check.Severity;
import dev.kbx.section.AdvisedErrors;
import dev.kbx.syntax.Place;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import dev.kbx.verdict.Verdict.Break;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * Findings of {@code kbx check}, or the failures of a run, as SARIF 2.1.0, which code hosts and
 * editors show in the source.
 *
 * @param rules the rules that were switched on; none for verdicts
 * @param version of kbx
 * @param folder what relative locations start from
 */
public record Sarif(List<RuleInfo> rules, String version, Path folder) {
  private static final String SCHEMA =
      "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
  private static final String ROOT = "SRCROOT";

  /** Not kbx's mapper: SARIF's names are in camel case. */
  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .changeDefaultPropertyInclusion(
              include -> include.withValueInclusion(JsonInclude.Include.NON_NULL))
          .build();

  record Log(@JsonProperty("$schema") String schema, String version, List<Run> runs) {}

  record Run(
      Tool tool,
      List<Invocation> invocations,
      Map<String, Location> originalUriBaseIds,
      String columnKind,
      List<Result> results) {}

  record Tool(Driver driver) {}

  record Driver(String name, String version, List<Descriptor> rules) {}

  record Descriptor(
      String id,
      Message shortDescription,
      @Nullable Message fullDescription,
      @Nullable Message help,
      Configuration defaultConfiguration) {}

  record Configuration(String level) {}

  record Invocation(boolean executionSuccessful, List<Notification> toolExecutionNotifications) {}

  record Notification(String level, Message message) {}

  record Message(String text) {}

  record Location(String uri, @Nullable String uriBaseId) {}

  record Result(
      String ruleId, int ruleIndex, String level, Message message, List<Where> locations) {}

  record Where(Physical physicalLocation) {}

  record Physical(Location artifactLocation, Region region) {}

  record Region(
      int startLine,
      @Nullable Integer startColumn,
      @Nullable Integer endColumn,
      @Nullable Message snippet) {}

  /** The document's text. */
  public String render(Checks checks) {
    Map<String, Descriptor> descriptors = descriptors();
    List<String> ids = List.copyOf(descriptors.keySet());
    List<Result> results = new ArrayList<>();
    for (Checks.Checked source : checks.sources()) {
      source.report().broken().ifPresent(broken -> results.add(result(source, broken, ids)));
      for (Finding finding : source.findings(checks.least())) {
        results.add(result(source, finding, ids));
      }
    }
    return render(descriptors, notifications(checks), results);
  }

  /**
   * The document of a run: a failed candidate is an error, what a correct one breaks on a warning.
   * The rule is the status; the line is the one that the message names, or the last frame's.
   */
  public String render(List<Verdict> verdicts) {
    Map<String, Descriptor> descriptors = new LinkedHashMap<>();
    List<Result> results = new ArrayList<>();
    for (Verdict verdict : verdicts) {
      Judgement judgement = verdict.judgement();
      Status status = judgement.status();
      if (status.blame() == Status.Blame.CANDIDATE) {
        List<Verdict.Frame> frames = Objects.requireNonNullElse(judgement.frames(), List.of());
        int line = frames.isEmpty() ? 1 : frames.getLast().line();
        results.add(result(verdict, descriptors, status, judgement.message(), line, "error"));
      }
      for (Break each : Objects.requireNonNullElse(judgement.breaks(), List.<Break>of())) {
        String text = "breaks on %s: %s".formatted(each.property(), each.message());
        results.add(result(verdict, descriptors, each.status(), text, 1, "warning"));
      }
    }
    return render(descriptors, List.of(), results);
  }

  private static final Pattern LINE = Pattern.compile("\\bline (\\d{1,6})\\b");
  private static final Pattern ROW = Pattern.compile("(.+):(\\d+)");

  /**
   * @param line where the message names none
   */
  private Result result(
      Verdict verdict,
      Map<String, Descriptor> descriptors,
      Status status,
      @Nullable String message,
      int line,
      String level) {
    descriptors.computeIfAbsent(status.label(), _ -> descriptor(status));
    String text =
        verdict.provenance().task() + ": " + Objects.requireNonNullElse(message, status.label());
    Matcher named = LINE.matcher(text);
    int at = named.find() ? Integer.parseInt(named.group(1)) : line;
    // In a file of predictions the source is part of one line.
    Matcher row = ROW.matcher(verdict.provenance().source());
    boolean inRow = row.matches();
    Location location = location(inRow ? row.group(1) : verdict.provenance().source());
    Region region =
        new Region(inRow ? Integer.parseInt(row.group(2)) : Math.max(1, at), null, null, null);
    return new Result(
        status.label(),
        List.copyOf(descriptors.keySet()).indexOf(status.label()),
        level,
        new Message(text),
        List.of(new Where(new Physical(location, region))));
  }

  private static Descriptor descriptor(Status status) {
    String advice = AdvisedErrors.ofStatus(status);
    return new Descriptor(
        status.label(),
        new Message(status.label().replace('_', ' ')),
        null,
        advice == null ? null : new Message(advice),
        new Configuration("error"));
  }

  private String render(
      Map<String, Descriptor> descriptors, List<Notification> problems, List<Result> results) {
    Run run =
        new Run(
            new Tool(new Driver("kbx", version, List.copyOf(descriptors.values()))),
            List.of(new Invocation(true, problems)),
            Map.of(ROOT, new Location(root(), null)),
            "utf16CodeUnits",
            results);
    return MAPPER
        .writerWithDefaultPrettyPrinter()
        .writeValueAsString(new Log(SCHEMA, "2.1.0", List.of(run)));
  }

  private Map<String, Descriptor> descriptors() {
    Map<String, Descriptor> found = new LinkedHashMap<>();
    for (RuleInfo rule : rules) {
      found.put(
          rule.id(),
          new Descriptor(
              rule.id(),
              new Message(rule.title()),
              new Message(rule.rationale()),
              new Message(rule.advice()),
              new Configuration(level(rule.severity()))));
    }
    for (Status status : List.of(Status.NO_CODE, Status.SYNTAX_ERROR, Status.NO_ENTRY)) {
      found.put(status.label(), fault(status));
    }
    return found;
  }

  private static Descriptor fault(Status status) {
    String title =
        switch (status) {
          case NO_CODE -> "The source holds no Python code";
          case SYNTAX_ERROR -> "The source is not valid Python";
          default -> "The source does not define the task's entry";
        };
    String why =
        title + ", so that there is nothing to run: the verdict is " + status.label() + ".";
    return new Descriptor(
        status.label(),
        new Message(title),
        new Message(why),
        new Message("Fix the source; 'kbx tasks show TASK' shows the entry of a task."),
        new Configuration("error"));
  }

  private static List<Notification> notifications(Checks checks) {
    return checks.problems().stream()
        .map(problem -> new Notification("warning", new Message(problem)))
        .toList();
  }

  private Result result(Checks.Checked source, InvalidSource broken, List<String> ids) {
    return result(source, broken.status().label(), "error", broken.message(), broken.place(), ids);
  }

  private Result result(Checks.Checked source, Finding finding, List<String> ids) {
    String message = finding.message() + ". " + finding.advice();
    return result(source, finding.rule(), level(finding.severity()), message, finding.place(), ids);
  }

  private Result result(
      Checks.Checked source,
      String rule,
      String level,
      String text,
      Place place,
      List<String> ids) {
    // In a file of predictions the source is part of one line, and columns are not the file's.
    Integer row = source.row();
    Message message = new Message(row == null ? text : "line " + place.line() + ": " + text);
    Region region = row == null ? region(place) : new Region(row, null, null, null);
    Where where = new Where(new Physical(location(source.file()), region));
    return new Result(rule, ids.indexOf(rule), level, message, List.of(where));
  }

  private static Region region(Place place) {
    return new Region(place.line(), place.column(), place.end(), new Message(place.text()));
  }

  /** Relative to the folder if the file is in it, as code hosts require. */
  private Location location(String file) {
    Path path = folder.resolve(file).normalize();
    if (!path.startsWith(folder)) return new Location(path.toUri().toString(), null);
    return new Location(path.toUri().toString().substring(root().length()), ROOT);
  }

  /** Ends in a slash, which a folder's URI has only if the folder exists. */
  private String root() {
    String uri = folder.toUri().toString();
    return uri.endsWith("/") ? uri : uri + "/";
  }

  private static String level(Severity severity) {
    return switch (severity) {
      case REJECT -> "error";
      case FLAG -> "warning";
      case NOTE -> "note";
    };
  }
}

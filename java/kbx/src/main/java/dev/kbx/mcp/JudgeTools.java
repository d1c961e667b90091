package dev.kbx.mcp;

import dev.kbx.candidate.CandidateSources;
import dev.kbx.candidate.Extraction;
import dev.kbx.check.Rules;
import dev.kbx.check.Severity;
import dev.kbx.check.StaticCheck;
import dev.kbx.check.StaticReport;
import dev.kbx.error.InputException;
import dev.kbx.mcp.Tool.Answer;
import dev.kbx.mcp.Tool.Arguments;
import dev.kbx.mcp.Tool.Parameter;
import dev.kbx.mcp.ToolBackend.Judged;
import dev.kbx.report.CheckJson;
import dev.kbx.report.CheckText;
import dev.kbx.report.Checks;
import dev.kbx.syntax.SyntaxCheck;
import dev.kbx.task.Task;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Verdict;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** The tools {@code judge} and {@code check}. */
final class JudgeTools {
  private static final Parameter SOURCE =
      Parameter.required(
          "source", "The kernel's file: Python that defines what the task asks for.");

  static final List<Tool> ALL =
      List.of(
          new Tool(
              "judge",
              "Judge a kernel",
              "Run a kernel against its task: whether it compiles, is correct, and how fast it is."
                  + " Returns the verdict with what is wrong first, and its id for explain,"
                  + " profile and reproduce. Takes seconds to minutes, and one judgement of the"
                  + " budget.",
              ToolBackend.Scope.SUBMIT,
              List.of(
                  SOURCE,
                  Parameter.text("task", TaskTools.TASK.description()),
                  TaskTools.SUITE,
                  Parameter.text(
                      "reference",
                      "In place of a task, on your own machine: the path of a Python file with a"
                          + " reference, FILE or FILE:NAME."),
                  TaskTools.GRADE),
              JudgeTools::judge),
          new Tool(
              "check",
              "Check a kernel without running it",
              "Look for cheats and mistakes in a kernel's source by the static rules. Takes no"
                  + " judgement of the budget.",
              ToolBackend.Scope.READ,
              List.of(
                  SOURCE, Parameter.text("task", TaskTools.TASK.description()), TaskTools.SUITE),
              JudgeTools::check));

  private static final int COLUMNS = 120;

  private JudgeTools() {}

  private static String source(Arguments arguments) {
    String source = arguments.text("source");
    if (source.getBytes(StandardCharsets.UTF_8).length <= CandidateSources.MAX_CODE) return source;
    throw new InputException("source: has more than 1 MiB");
  }

  private static @Nullable Task task(ToolBackend backend, Arguments arguments)
      throws InterruptedException {
    return arguments.optional("task").isPresent() ? TaskTools.task(backend, arguments) : null;
  }

  private static Answer judge(ToolBackend backend, Arguments arguments)
      throws InterruptedException {
    Optional<String> reference = arguments.optional("reference");
    if (reference.isPresent() == arguments.optional("task").isPresent()) {
      throw new InputException("judge: give task or reference, one of them");
    }
    Judged judged =
        backend.judge(
            new ToolBackend.Kernel(
                task(backend, arguments),
                reference.orElse(null),
                source(arguments),
                TaskTools.grade(arguments)));
    ObjectNode object = Json.mapper().createObjectNode().put("id", judged.id());
    Verdict verdict = judged.verdict();
    if (verdict == null) {
      object.put("state", "queued");
      return new Answer(
          "Not judged yet: ask explain for id %s later.".formatted(judged.id()), object);
    }
    Judgement judgement = verdict.judgement();
    String feedback = backend.statement().feedback(judged.task(), judged.source(), judgement);
    VerdictTools.summary(object, verdict).put("feedback", feedback);
    StringBuilder text = new StringBuilder(feedback);
    text.append("\n\nVerdict id: %s".formatted(judged.id()));
    if (judged.left() != null) {
      object.put("judgements_left", judged.left());
      text.append("\nJudgements left: %d".formatted(judged.left()));
    }
    return new Answer(text.toString(), object);
  }

  private static Answer check(ToolBackend backend, Arguments arguments)
      throws InterruptedException {
    Task task = task(backend, arguments);
    String code = source(arguments);
    if (task != null) code = Extraction.source(code, task).code();
    try (SyntaxCheck syntax = backend.syntax()) {
      StaticReport report =
          new StaticCheck(Rules.all(), Optional.empty(), syntax).check(code, task);
      Checks checks =
          new Checks(
              List.of(
                  new Checks.Checked("source", null, task == null ? null : task.path(), report)),
              List.of(),
              Severity.FLAG,
              0);
      ObjectNode found =
          (ObjectNode) Json.mapper().readTree(CheckJson.render(checks, "")).at("/sources/0");
      found.remove("file");
      return new Answer(new CheckText(COLUMNS, false).render(checks).strip(), found);
    }
  }
}

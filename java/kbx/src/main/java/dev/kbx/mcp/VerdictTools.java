package dev.kbx.mcp;

import dev.kbx.app.Home;
import dev.kbx.app.Reproduction;
import dev.kbx.check.RuleInfo;
import dev.kbx.check.Rules;
import dev.kbx.check.UnknownRule;
import dev.kbx.document.Document;
import dev.kbx.document.MarkdownRenderer;
import dev.kbx.document.Section;
import dev.kbx.error.InputException;
import dev.kbx.mcp.Tool.Answer;
import dev.kbx.mcp.Tool.Arguments;
import dev.kbx.mcp.Tool.Parameter;
import dev.kbx.section.KernelDocument;
import dev.kbx.section.RatesSection;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.RunInfo;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.Verdict;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** The tools about verdicts: {@code explain, profile, reproduce}. */
final class VerdictTools {
  private static final Parameter ID =
      Parameter.required("id", "Id of a verdict, RUN/POSITION, as judge and best_known give it.");

  static final List<Tool> ALL =
      List.of(
          new Tool(
              "explain",
              "Explain a verdict",
              "All that a verdict says: what failed and where, the first wrong elements, on which"
                  + " inputs the kernel breaks and holds, and what the rule behind it is for.",
              ToolBackend.Scope.READ,
              List.of(ID),
              VerdictTools::explain),
          new Tool(
              "profile",
              "Show a kernel's times",
              "The times of a judged kernel at each size, its speedup, what bounds it, and its"
                  + " registers and spills, as far as they were measured.",
              ToolBackend.Scope.READ,
              List.of(ID),
              VerdictTools::profile),
          new Tool(
              "reproduce",
              "Write a script that shows a failure",
              "A Python script that shows a kernel's failure with torch and triton alone. Over"
                  + " HTTP it needs the scope admin: it says how inputs are drawn.",
              ToolBackend.Scope.ADMIN,
              List.of(
                  ID,
                  Parameter.text(
                      "property",
                      "Of a correct kernel: the property that it breaks on. Default: the first."),
                  Parameter.text(
                      "reference", "The reference that the kernel was judged by, if it was.")),
              VerdictTools::reproduce));

  private VerdictTools() {}

  /** A verdict with its run and the source that it is about. */
  private record Found(String id, RunInfo run, Verdict verdict, String source) {
    static Found of(ToolBackend backend, Arguments arguments) throws InterruptedException {
      String id = backend.verdictId(arguments.text("id"));
      int slash = id.indexOf('/');
      if (slash < 0 || !id.substring(slash + 1).matches("\\d{1,9}")) {
        throw new InputException("id: '%s' is no id of a verdict, RUN/POSITION".formatted(id));
      }
      String run = id.substring(0, slash);
      Verdict verdict =
          backend
              .store()
              .queries()
              .stored(run, Integer.parseInt(id.substring(slash + 1)))
              .orElseThrow(() -> new InputException("id: there is no verdict " + id))
              .verdict();
      return new Found(
          id,
          backend.store().run(run).orElseThrow(),
          verdict,
          backend.store().source(verdict.provenance().candidate()).orElse(""));
    }

    Document document() {
      return KernelDocument.of(run, verdict, source).brief();
    }

    ObjectNode object() {
      return summary(Json.mapper().createObjectNode().put("id", id), verdict);
    }
  }

  /** Adds what a caller needs first of a verdict; what is not known is absent. */
  static ObjectNode summary(ObjectNode object, Verdict verdict) {
    Judgement judgement = verdict.judgement();
    Map<String, @Nullable Object> members = new LinkedHashMap<>();
    members.put("suite", verdict.provenance().suite());
    members.put("task", verdict.provenance().category() + "/" + verdict.provenance().task());
    members.put("status", judgement.status());
    members.put("stage", judgement.stage());
    members.put("call_ok", judgement.callOk());
    members.put("exe_ok", judgement.exeOk());
    members.put("message", judgement.message());
    members.put("rule", judgement.rule());
    members.put("flags", judgement.flags());
    members.put("speedup", judgement.speedup());
    members.put("device", judgement.device());
    members.values().removeIf(Objects::isNull);
    members.forEach((name, value) -> object.set(name, Json.mapper().valueToTree(value)));
    return object;
  }

  private static Answer explain(ToolBackend backend, Arguments arguments)
      throws InterruptedException {
    Found found = Found.of(backend, arguments);
    String text = MarkdownRenderer.render(found.document()) + rule(found.verdict().judgement());
    return new Answer(text.strip(), found.object().put("explanation", text.strip()));
  }

  /** What the rule that rejects is for; empty without one. */
  private static String rule(Judgement judgement) {
    if (judgement.rule() == null) return "";
    try {
      RuleInfo info = Rules.info(judgement.rule());
      return "\n## Rule %s\n\n%s\n\nInstead: %s.\n"
          .formatted(info.id(), info.rationale().strip(), info.advice().strip());
    } catch (UnknownRule _) {
      return ""; // Of another version.
    }
  }

  private static Answer profile(ToolBackend backend, Arguments arguments)
      throws InterruptedException {
    Found found = Found.of(backend, arguments);
    Judgement judgement = found.verdict().judgement();
    List<String> lines = new ArrayList<>();
    ObjectNode object = found.object();
    if (judgement.sizes() == null || judgement.sizes().isEmpty()) {
      lines.add("Time was not measured: " + why(judgement) + ".");
    } else {
      if (judgement.speedup() != null) lines.add("Speedup: " + speedup(judgement.speedup()) + ".");
      if (judgement.expert() != null) {
        lines.add("Of the expert's speed: " + RatesSection.ofExpert(judgement).text() + ".");
        object.set("expert", Json.mapper().valueToTree(judgement.expert()));
      }
      found.document().sections().stream()
          .filter(section -> section.id().equals("timings"))
          .map(VerdictTools::lines)
          .forEach(lines::add);
      object.set("sizes", Json.mapper().valueToTree(judgement.sizes()));
    }
    if (judgement.compile() != null) {
      lines.add(resources(judgement.compile()));
      object.set("compile", Json.mapper().valueToTree(judgement.compile()));
    }
    if (judgement.profile() != null) {
      object.set("profile", Json.mapper().valueToTree(judgement.profile()));
    }
    String text = String.join("\n\n", lines);
    return new Answer(text, object.put("text", text));
  }

  private static String lines(Section section) {
    return String.join("\n", MarkdownRenderer.lines(section)).strip();
  }

  private static String why(Judgement judgement) {
    if (judgement.status() != Status.CORRECT) {
      return "the kernel is %s, and only correct ones are timed"
          .formatted(judgement.status().label());
    }
    return judgement.device().onGpu() ? "the stage perf was left out" : "it ran on no GPU";
  }

  static String speedup(Verdict.Speedup speedup) {
    return "%s against %s".formatted(RatesSection.speedup(speedup).text(), speedup.baseline());
  }

  private static String resources(Verdict.Compile compile) {
    return Stream.of(
            of(compile.registers(), "registers a thread"),
            of(compile.sharedBytes(), "bytes of shared memory"),
            of(compile.spills(), "bytes spilled"))
        .filter(part -> !part.isEmpty())
        .collect(Collectors.joining(", ", "Compiled for " + compile.arch() + ": ", "."));
  }

  private static String of(@Nullable Integer count, String what) {
    return count == null ? "" : count + " " + what;
  }

  private static Answer reproduce(ToolBackend backend, Arguments arguments)
      throws InterruptedException {
    Found found = Found.of(backend, arguments);
    Reproduction.Script script =
        new Reproduction(Home.here(), found.run())
            .script(
                found.verdict(),
                found.source(),
                arguments.optional("property").orElse(null),
                arguments.optional("reference").orElse(null),
                backend
                    .python()
                    .orElseThrow(() ->
                        new InputException("there is no Python with torch yet: judge first")));
    return new Answer(script.text(), found.object().put("script", script.text()));
  }
}

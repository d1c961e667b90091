package dev.kbx.check;

import dev.kbx.task.Task;
import java.nio.file.Path;
import java.util.List;

/** What the rules say of source that answers a made-up task whose entry is {@code f}. */
final class TaskRules {
  private static final String HEADER =
      "import torch\nimport triton\nimport triton.language as tl\n";

  private String dtype = "float32";
  private List<String> tags = List.of();
  private List<String> operations = List.of("torch.mm", "torch.tanh");

  static TaskRules forTask() {
    return new TaskRules();
  }

  TaskRules dtype(String name) {
    dtype = name;
    return this;
  }

  TaskRules tags(String... names) {
    tags = List.of(names);
    return this;
  }

  TaskRules reference(String... names) {
    operations = List.of(names);
    return this;
  }

  /** {@code rule:line} of each finding; line 1 is the first of the code given, after imports. */
  List<String> find(String code) {
    return find(code, HEADER);
  }

  /** The same with other lines before the code, of which three count as none. */
  List<String> find(String code, String header) {
    return findings(header + code).stream()
        .map(finding -> finding.rule() + ":" + (finding.place().line() - 3))
        .toList();
  }

  /** The severity of each finding. */
  List<Severity> severities(String code) {
    return findings(HEADER + code).stream().map(Finding::severity).toList();
  }

  private List<Finding> findings(String code) {
    Task task =
        new Task(
            "s",
            "c",
            "f",
            "f",
            "",
            null,
            dtype,
            tags,
            false,
            "",
            "",
            operations,
            null,
            Path.of("f.py"),
            null);
    return new StaticCheck(Rules.all())
        .check(code, task).findings().stream().filter(f -> covers(f.rule())).toList();
  }

  static boolean covers(String rule) {
    return RULES.contains(rule);
  }

  /** Those about who computes what; other rules have their own tests. */
  private static final List<String> RULES =
      List.of(
          "constant-result",
          "decoy-kernel",
          "frozen-randomness",
          "library-call",
          "library-fallback",
          "never-quantizes",
          "no-kernel",
          "other-library",
          "precision-downgrade",
          "reference-import",
          "torch-compile");

  /** A kernel that copies, on lines of its own. */
  static final String KERNEL =
      """
      @triton.jit
      def kernel(x, out, n, B: tl.constexpr):
          i = tl.arange(0, B)
          tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)
      """;
}

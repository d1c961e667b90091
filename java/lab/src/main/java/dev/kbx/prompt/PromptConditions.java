package dev.kbx.prompt;

import dev.kbx.plan.Grade;
import dev.kbx.plan.ModulePrecision;
import dev.kbx.task.Policy;
import dev.kbx.task.Task;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * The conditions that a run's prompts are written under. Each is a factor that analyses can group
 * by.
 *
 * @param hardware whether prompts describe the device
 * @param advice whether they have advice for the task's category
 * @param grade which calls the statement describes
 * @param policy who may compute the result
 * @param precision what modules are cast to
 */
public record PromptConditions(
    Shots shots,
    boolean hardware,
    boolean advice,
    Language language,
    FeedbackKind feedback,
    History history,
    Format format,
    Grade grade,
    Policy policy,
    ModulePrecision precision) {

  /** Names and values of all factors, in the order of the components. */
  public Map<String, String> factors() {
    Map<String, String> factors = new LinkedHashMap<>();
    factors.put("shots", shots.label());
    factors.put("hardware", String.valueOf(hardware));
    factors.put("advice", String.valueOf(advice));
    factors.put("language", language.label());
    factors.put("feedback", feedback.label());
    factors.put("history", history.label());
    factors.put("format", format.label());
    factors.put("grade", grade.label());
    factors.put("policy", policy.label());
    factors.put("precision", precision.label());
    return Collections.unmodifiableMap(factors);
  }

  /** How many kernels of other tasks a prompt shows. */
  public enum Shots {
    ZERO,
    ONE,
    /** Three, or as many as there are for the language. */
    FEW;

    /** The name used in options and files, in lower case. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** The language that kernels are asked for in. */
  public enum Language {
    TRITON("Triton"),
    /** Inline CUDA C++. */
    CUDA("CUDA C++"),
    /** The CuTe DSL of CUTLASS. */
    CUTE("CuTe DSL"),
    TILELANG("TileLang");

    private final String title;

    Language(String title) {
      this.title = title;
    }

    /** The name used in options and files, in lower case. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** The name used in text. */
    String title() {
      return title;
    }

    /** Whether a task accepts kernels in this language. */
    public boolean allowedBy(Task task) {
      return this == TRITON || task.takesCpp();
    }

    /** Values of templates: the title, and for each language's name whether it is this one. */
    Map<String, Object> flags() {
      Map<String, Object> values = new HashMap<>();
      values.put("language", title);
      for (Language language : values()) values.put(language.label(), language == this);
      return values;
    }

    /** The language of a kernel, by what it needs. */
    static Language of(String code) {
      if (code.contains("cpp_extension")) return CUDA;
      if (code.contains("tilelang")) return TILELANG;
      return code.contains("cutlass") ? CUTE : TRITON;
    }
  }

  /** What a model is told about its earlier kernels. */
  public enum FeedbackKind {
    /** Nothing. */
    NONE,
    /** The outcome, what was wrong, and the times. */
    EXECUTION,
    /**
     * The same with the share of the device's peaks, what bounds the kernel, its resources, Nsight
     * Compute's figures, and an example of what helps against that bound.
     */
    PROFILE;

    /** The name used in options and files, in lower case. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Which of its earlier kernels a model is shown. */
  public enum History {
    LAST,
    WHOLE;

    /** The name used in options and files, in lower case. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** The form of prompt that a model expects. */
  public enum Format {
    /** Statement, signature and reference in Markdown, for general models. */
    CHAT,
    /** Labelled fields in the manner of TritonBench-T, which AutoTriton was trained with. */
    AUTOTRITON,
    /**
     * A module {@code Model} to be replaced by {@code ModelNew}, which KernelLLM was trained with.
     */
    KERNELLLM;

    /** The name used in options and files, in lower case. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}

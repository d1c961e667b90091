package dev.kbx.section;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import dev.kbx.analysis.Errors;
import dev.kbx.analysis.Errors.Breaking;
import dev.kbx.analysis.Errors.OfRule;
import dev.kbx.analysis.Errors.OfStatus;
import dev.kbx.check.Rules;
import dev.kbx.check.UnknownRule;
import dev.kbx.verdict.Status;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Errors with what would have helped.
 *
 * @param advice for failed candidates, the line first that is about most of them
 * @param general for candidates right at the published grade alone
 */
public record AdvisedErrors(
    @JsonUnwrapped Errors errors, List<Advice> advice, List<Advice> general) {

  /**
   * A line to add to a prompt.
   *
   * @param candidates how many failed for what it is about; each counts once for a line
   */
  public record Advice(String line, int candidates) {}

  /** Looks up the advice for each status, rule and property. */
  public static AdvisedErrors of(Errors errors) {
    Map<String, Integer> failed = new LinkedHashMap<>();
    for (OfStatus each : errors.statuses()) {
      count(failed, ofStatus(each.status()), each.candidates());
    }
    for (OfRule each : errors.rules()) count(failed, ofRule(each.rule()), each.candidates());
    Map<String, Integer> general = new LinkedHashMap<>();
    for (Breaking each : errors.breaking()) {
      each.properties().stream()
          .map(AdvisedErrors::ofProperty)
          .distinct()
          .forEach(line -> count(general, line, each.candidates()));
    }
    return new AdvisedErrors(errors, sorted(failed), sorted(general));
  }

  private static void count(Map<String, Integer> lines, @Nullable String line, int candidates) {
    if (line != null) lines.merge(line, candidates, Integer::sum);
  }

  private static List<Advice> sorted(Map<String, Integer> lines) {
    List<Advice> all = new ArrayList<>();
    lines.forEach((line, candidates) -> all.add(new Advice(line, candidates)));
    all.sort(Comparator.comparingInt(Advice::candidates).reversed());
    return all;
  }

  private static @Nullable String ofRule(String rule) {
    try {
      String advice = Rules.info(rule).advice();
      return Character.toUpperCase(advice.charAt(0)) + advice.substring(1) + ".";
    } catch (UnknownRule _) {
      return null; // Of another version.
    }
  }

  /** What to do instead; null if the candidate could not have done better, or rules say it. */
  public static @Nullable String ofStatus(Status status) {
    return switch (status) {
      case NO_CODE -> "Answer with the complete file in one fenced block of code.";
      case NO_ENTRY -> "Define the entry at the top level, under the name that the task gives.";
      case SYNTAX_ERROR -> "Give the whole file as Python, without prose or omissions in the code.";
      case IMPORT_ERROR -> "Import nothing but torch, triton and Python's standard library.";
      case COMPILE_ERROR ->
          "Use in kernels only what Triton compiles: block sizes are tl.constexpr powers of two; no"
              + " lists, break, or calls of PyTorch.";
      case RUNTIME_ERROR ->
          "Check each launch and call in Python: argument names, shapes, dtypes, and sizes of 0 and"
              + " 1.";
      case TIMEOUT -> "Divide the work over programs, and let loops end for all sizes.";
      case OUT_OF_MEMORY -> "Allocate results and small workspaces only, sized by the arguments.";
      case CRASHED ->
          "Mask loads and stores, and compute offsets in int64 where tensors are large.";
      case WRONG_STRUCTURE -> "Return what the reference returns: the same tuple, and its strides.";
      case WRONG_SHAPE ->
          "Compute the shape of the result from all options: dim, keepdim, padding.";
      case WRONG_DTYPE -> "Return the dtype of the reference; convert at the store.";
      case WRONG_DEVICE -> "Allocate results on the device of the arguments.";
      case WRONG_VALUES ->
          "Mask the last block, use each tensor's strides, and accumulate in float32 without TF32.";
      case OUT_OF_BOUNDS ->
          "Mask each load and store by the sizes of its tensor; pass boundary_check to block"
              + " pointers.";
      case RACE ->
          "Let one program write an element, and none read it in that launch; add up by atomics or"
              + " in a second kernel.";
      case ORDER_DEPENDENT ->
          "Programs run in any order: pass results on between kernels, or by atomics that wait.";
      case UNDEFINED_VALUE ->
          "Give masked loads an other= that does not change the result; fill what torch.empty"
              + " returns before it is read.";
      case NONDETERMINISTIC ->
          "Add up in a fixed order: partial sums and a second kernel in place of atomics.";
      case INPUT_MUTATED -> "Write to new tensors; arguments stay as they are.";
      case NOT_A_KERNEL ->
          "Compute in kernels of the file; PyTorch may allocate, view, copy and cast.";
      case CHEATING -> "Compute each result from the arguments of its call.";
      case CORRECT, REJECTED_STATIC, FAILED, INVALID_TASK, INFRASTRUCTURE -> null;
    };
  }

  private static @Nullable String ofProperty(String property) {
    String kind = property.replaceFirst("^promised:", "").split("[:+]", 2)[0];
    return switch (kind) {
      case "non_contiguous", "expanded" ->
          "Address tensors by their strides, or copy them with contiguous() first.";
      case "empty", "zero_dim", "size_one" ->
          "Return early for tensors without elements; accept shapes () and (1,).";
      case "dtype" -> "Accept the other dtypes of the operation; accumulate in float32.";
      case "rank" -> "Take tensors of any number of dimensions: flatten those that do not matter.";
      case "broadcast", "batch_broadcast" ->
          "Broadcast arguments as PyTorch does: expand with stride 0.";
      case "out_argument", "in_place" -> "Fill and return out= or the argument where it is asked.";
      case "option", "option_value" ->
          "Implement every option of the signature, and every value of it.";
      case "batch_size" -> "Take sizes from the arguments, not from the example.";
      case "other_weights" -> "Read weights at each call: they may have changed.";
      case "ragged_windows" -> "Let the last window be cut off where the stride does not divide.";
      case "sign" ->
          "Begin a maximum at minus infinity and a minimum at infinity, where elements are masked,"
              + " too.";
      case "tiny_values", "wide_values", "offset" ->
          "Use the numerically stable form: subtract the maximum or the mean, log1p, expm1.";
      case "huge_values", "faint_values" ->
          "Compute in the whole range of float32: no clamping, no conversion to int32, no guard"
              + " that is larger than values.";
      case "zeros", "degenerate" -> "Divide by zero where the reference does, and nowhere else.";
      case "state_output" -> "Update the statistics that the call is given, too.";
      case "special_values" -> "Let NaN and infinities come out as in the reference.";
      default -> null;
    };
  }
}

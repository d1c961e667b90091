package dev.kbx.facts;

import dev.kbx.program.Call;
import dev.kbx.program.Kernel;
import dev.kbx.program.Program;
import dev.kbx.syntax.Node;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * An optimization technique, as a source shows that it is attempted. Triton, Gluon, TileLang and
 * the CuTe DSL show it by what they call, CUDA C++ by words in strings that hold a {@code
 * __global__} function. What a compiler does by itself is not counted.
 */
enum Technique {
  /** Allocates shared memory itself. */
  SHARED_MEMORY(
      "__shared__", "allocate_shared_memory", "alloc_shared", "SmemAllocator", "allocate_tensor"),
  /** Wide loads and stores: block pointers, descriptors, promises of alignment, vector types. */
  VECTORISED_ACCESS(
      "\\b(?:float|half|int|uint|double|__nv_bfloat16)[248]\\b",
      "max_contiguous",
      "multiple_of",
      "make_block_ptr",
      "make_tensor_descriptor",
      "load_tensor_descriptor",
      "vectorized",
      "autovec_copy"),
  /** Matrix products by tensor cores. */
  TENSOR_CORES(
      "wmma::|\\bmma\\.sync|\\bwgmma",
      "dot",
      "dot_scaled",
      "gemm",
      "warpgroup_mma",
      "tcgen05_mma",
      "make_tiled_mma"),
  /** Several programs share the sum of a matrix product. */
  SPLIT_K("(?i)split_?k"),
  /** Programs loop over tiles, as many as the device runs at once. */
  PERSISTENT_KERNEL("multiProcessorCount"),
  /** Fewer launches than the reference has operations. */
  FUSION(""),
  /** Copies that run while the kernel computes: pipelined loops, descriptors, cp.async. */
  ASYNC_COPIES(
      "cp\\.async|memcpy_async|cuda::pipeline|__pipeline_",
      "make_tensor_descriptor",
      "load_tensor_descriptor",
      "async_copy_global_to_shared",
      "CopyG2SOp",
      "Pipelined"),
  /** Configurations that are tried when it runs. */
  AUTOTUNING("", "autotune", "Autotuner");

  private static final Set<String> ROOTS = Set.of("triton", "tilelang", "cutlass");
  private static final Pattern SPLIT = Pattern.compile("(?i)split_?k.*|.*_split_?k");
  private static final Pattern RESIDENT = Pattern.compile("(?i)num_(?:sms?|progs|programs)");
  private static final Set<String> RANGES = Set.of("builtins.range", "triton.language.range");
  private static final String STAGES = "num_stages";

  private final Pattern words;

  @SuppressWarnings("ImmutableEnumChecker") // Set.of cannot be changed.
  private final Set<String> calls;

  /**
   * @param words in CUDA C++, as a pattern; empty for none
   * @param calls last names of functions
   */
  Technique(String words, String... calls) {
    this.words = Pattern.compile(words.isEmpty() ? "(?!)" : words);
    this.calls = Set.of(calls);
  }

  String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /**
   * The techniques that a program attempts.
   *
   * @param operations number of operations of the reference
   */
  static Set<Technique> in(Program program, int operations) {
    Set<Technique> found = EnumSet.noneOf(Technique.class);
    List<String> cuda = cuda(program);
    for (Technique each : values()) {
      if (cuda.stream().anyMatch(text -> each.words.matcher(text).find())) found.add(each);
    }
    for (Call call : program.calls()) {
      for (String target : call.targets()) called(target, found);
    }
    for (Kernel kernel : program.kernels()) ofKernel(kernel, program, found);
    int launches = program.launches().size();
    if (launches > 0 && launches < operations) found.add(FUSION);
    return found;
  }

  private static List<String> cuda(Program program) {
    return program.module().node().tokens().stream()
        .filter(token -> token.is("string"))
        .map(program::text)
        .filter(text -> text.contains("__global__"))
        .toList();
  }

  private static void called(String target, Set<Technique> found) {
    int dot = target.indexOf('.');
    if (dot < 0 || !ROOTS.contains(target.substring(0, dot))) return;
    String name = target.substring(target.lastIndexOf('.') + 1);
    for (Technique each : values()) if (each.calls.contains(name)) found.add(each);
  }

  private static void ofKernel(Kernel kernel, Program program, Set<Technique> found) {
    List<Call> own =
        program.calls().stream().filter(call -> call.scope().within(kernel.scope())).toList();
    boolean product = does(own, "triton.language.dot") || does(own, "triton.language.dot_scaled");
    boolean adds = does(own, "triton.language.atomic_add");
    if (product && (adds || has(kernel, SPLIT))) found.add(SPLIT_K);
    boolean resident = does(own, "triton.language.num_programs") || has(kernel, RESIDENT);
    if (resident && own.stream().anyMatch(Technique::strides)) found.add(PERSISTENT_KERNEL);
    if (loops(kernel) && pipelined(kernel, own, program)) found.add(ASYNC_COPIES);
  }

  private static boolean does(List<Call> calls, String target) {
    return calls.stream().anyMatch(call -> call.of(target));
  }

  private static boolean has(Kernel kernel, Pattern parameter) {
    return kernel.parameters().stream().anyMatch(name -> parameter.matcher(name).matches());
  }

  /** A loop with a step. */
  private static boolean strides(Call call) {
    return call.arguments().size() == 3 && call.targets().stream().anyMatch(RANGES::contains);
  }

  private static boolean loops(Kernel kernel) {
    return kernel.scope().node().all().stream()
        .anyMatch(node -> node.is("for_statement", "while_statement"));
  }

  /** Whether more than one stage is asked for: in a loop, a configuration or a launch. */
  private static boolean pipelined(Kernel kernel, List<Call> own, Program program) {
    return own.stream().anyMatch(call -> stages(call, program))
        || kernel.configs().stream()
            .anyMatch(config -> config.options().get(STAGES) instanceof Long n && n > 1)
        || program.launches().stream()
            .filter(launch -> launch.kernels().contains(kernel))
            .anyMatch(launch -> stages(launch.call(), program));
  }

  private static boolean stages(Call call, Program program) {
    Node stages = call.keyword(STAGES).orElse(null);
    return stages != null
        && program.constants(stages).stream().anyMatch(n -> n instanceof Long count && count > 1);
  }
}

package dev.kbx.candidate;

import dev.kbx.syntax.PythonSource;
import dev.kbx.task.Task;
import dev.kbx.verdict.CandidateIdentity;
import dev.kbx.verdict.Provenance;
import java.text.Normalizer;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One machine-written kernel for one task.
 *
 * @param source its Python source; empty if the answer had none
 * @param origin its path, with {@code :line} in a JSONL file
 * @param sample number among the candidates for one task by one method, model and round, from 0
 * @param conditions under which it was generated, by name; empty if not stated
 */
public record Candidate(
    Task task,
    Source source,
    String origin,
    int sample,
    @Nullable String method,
    @Nullable String model,
    @Nullable Integer round,
    Map<String, String> conditions) {
  /** TileLang, and CUTLASS for the CuTe DSL, by the names that are imported. */
  private static final Set<String> KERNEL_PACKAGES = Set.of("tilelang", "cutlass");

  /** A candidate whose source is in memory. */
  public Candidate(
      Task task,
      String code,
      String origin,
      int sample,
      @Nullable String method,
      @Nullable String model,
      @Nullable Integer round) {
    this(task, new Source.Text(code), origin, sample, method, model, round, Map.of());
  }

  public Candidate {
    conditions = Map.copyOf(conditions);
  }

  /** The Python source. Throws {@link ChangedFile}, as do all that need the source. */
  public String code() {
    return source.held().code();
  }

  /** The syntax tree. */
  public PythonSource parsed() {
    return source.held().parsed();
  }

  /** This candidate with its source in memory, for repeated use. */
  public Candidate held() {
    return source instanceof Source.Text
        ? this
        : new Candidate(task, source.held(), origin, sample, method, model, round, conditions);
  }

  /**
   * Whether the source may compile C++, by a name as Python reads it. A false yes only costs the
   * candidate time.
   */
  public boolean bringsCpp() {
    return Normalizer.normalize(code(), Normalizer.Form.NFKC).contains("cpp_extension");
  }

  /** Whether its kernels may be written in another package than Triton, which compiles them. */
  public boolean bringsKernelPackage() {
    return packages().stream().anyMatch(KERNEL_PACKAGES::contains);
  }

  /** Packages that its import statements name. */
  public Set<String> packages() {
    return parsed().modules();
  }

  /** SHA-256 of the source, hex: equal sources are one candidate, wherever they came from. */
  public String hash() {
    return source.held().hash();
  }

  /** The identity in a run; reads the source if it is not in memory. */
  public CandidateIdentity identity() {
    return identity(hash());
  }

  /** The identity that it has if its source has this hash. */
  public CandidateIdentity identity(String hash) {
    return new CandidateIdentity(task.suite(), task.path(), method, model, sample, round, hash);
  }

  /** The provenance in a run. */
  public Provenance provenance(String run) {
    return new Provenance(
        run,
        hash(),
        origin,
        task.suite(),
        task.name(),
        task.category(),
        sample,
        method,
        model,
        round,
        conditions,
        null);
  }
}

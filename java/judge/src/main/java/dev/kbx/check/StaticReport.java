package dev.kbx.check;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The result of the static stage for one source.
 *
 * @param fault why the source cannot be a candidate; null if it can
 * @param findings of the rules, in source order; none for what is certainly no Python
 */
public record StaticReport(@Nullable InvalidSource fault, List<Finding> findings) {
  public StaticReport {
    findings = List.copyOf(findings);
  }

  public Optional<InvalidSource> broken() {
    return Optional.ofNullable(fault);
  }

  /** A finding that may explain wrong values. */
  public Optional<Finding> imprecision() {
    return findings.stream().filter(f -> f.rule().equals(PrecisionDowngrade.ID)).findFirst();
  }

  /** Whether rules reject the source, and all that do are about who computes. */
  public boolean onlyPolicy() {
    return fault == null
        && !rejections().isEmpty()
        && rejections().stream().allMatch(finding -> Rules.isPolicy(finding.rule()));
  }

  /** The findings that reject. */
  public List<Finding> rejections() {
    return findings.stream().filter(f -> f.severity() == Severity.REJECT).toList();
  }
}

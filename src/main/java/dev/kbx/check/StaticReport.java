package dev.kbx.check;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The result of the static stage for one source.
 *
 * @param findings what the rules found, in the order of places; they look at broken source too, as
 *     far as it can be read
 */
public record StaticReport(@Nullable InvalidSource fault, List<Finding> findings) {
  public StaticReport {
    findings = List.copyOf(findings);
  }

  public Optional<InvalidSource> broken() {
    return Optional.ofNullable(fault);
  }

  /** What may be the cause if values turn out to be wrong. */
  public Optional<Finding> imprecision() {
    return findings.stream().filter(f -> f.rule().equals(PrecisionDowngrade.ID)).findFirst();
  }

  /** The findings that reject. */
  public List<Finding> rejections() {
    return findings.stream().filter(f -> f.severity() == Severity.REJECT).toList();
  }
}

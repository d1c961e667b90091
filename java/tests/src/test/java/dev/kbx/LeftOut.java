package dev.kbx;

import java.util.Map;
import java.util.TreeMap;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/** Says at the end which tests were left out, and why: what was skipped has not passed. */
public final class LeftOut implements TestExecutionListener {
  private final Map<String, Integer> reasons = new TreeMap<>();

  @Override
  public void executionSkipped(TestIdentifier test, String reason) {
    count(test, reason);
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    if (result.getStatus() == TestExecutionResult.Status.ABORTED) {
      count(test, result.getThrowable().map(t -> String.valueOf(t.getMessage())).orElse(""));
    }
  }

  private synchronized void count(TestIdentifier test, String reason) {
    String place = test.getParentIdObject().map(Object::toString).orElse("");
    String type = place.replaceAll(".*\\.(\\w+)\\].*", "$1");
    reasons.merge(
        (test.isContainer() ? test.getDisplayName() : type) + ": " + reason, 1, Integer::sum);
  }

  @Override
  public synchronized void testPlanExecutionFinished(TestPlan plan) {
    reasons.forEach((reason, count) -> System.err.println("left out: " + reason));
  }
}

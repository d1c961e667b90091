package dev.kbx.judge;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.device.Workers;
import dev.kbx.plan.Plan;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Status;
import dev.kbx.worker.DeviceSlot;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** Judgements of scripted candidates, timed by a clock that a file sets. */
abstract class TimingCase {
  @TempDir static Path folder;

  static Workers workers;
  static JudgingSlot judgingSlot;

  @BeforeAll
  static void open() throws IOException {
    workers = FakeWorkers.start(FakeClock.in(folder));
    judgingSlot = FakeWorkers.judgingSlot(workers.slot(DeviceSlot.cuda(0)));
  }

  @AfterAll
  static void close() {
    workers.close();
  }

  static Judgement judge(String task, Map<String, ?> script) throws Exception {
    return judge(judgingSlot, task, script);
  }

  /** On a device whose memory no other test has asked for. */
  static Judgement judgeOnFresh(String task) throws Exception {
    try (Workers own = FakeWorkers.start()) {
      return judge(FakeWorkers.judgingSlot(own.slot(DeviceSlot.cuda(0))), task, Map.of());
    }
  }

  static Judgement judge(JudgingSlot judgingSlot, String task, Map<String, ?> script)
      throws Exception {
    Plan plan = FakeWorkers.timedPlan();
    return new Judge(judgingSlot, plan, FakeWorkers.DEVICE, Map.of())
        .judge(FakeWorkers.candidate(task, script));
  }

  Judgement claiming(double... milliseconds) throws Exception {
    return claimingOn("timed", milliseconds);
  }

  Judgement claimingOn(String task, double... milliseconds) throws Exception {
    return judge(task, Map.of("measure", List.of(measured(milliseconds))));
  }

  /** A runner's account of a batch of four calls. */
  static String measured(double... milliseconds) {
    return "{\"type\":\"measured\",\"id\":$id,\"device_ms\":%s,\"values\":[{},{},{},{}],\"seconds\":0,\"host_bound\":0}"
        .formatted(Arrays.toString(milliseconds));
  }

  static double speedup(Judgement verdict) {
    assertThat(verdict.status())
        .as("%s %s", verdict.message(), verdict.evidence())
        .isEqualTo(Status.CORRECT);
    return requireNonNull(verdict.speedup()).value();
  }

  /** A candidate that takes 20 us when it is launched. */
  Judgement brief(String task, Map<String, ?> more) throws Exception {
    Map<String, Object> script = new HashMap<>(more);
    script.put("measure", List.of(measured(0.02, 0.02, 0.02, 0.02)));
    return judge(task, script);
  }
}

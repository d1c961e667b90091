package dev.kbx.run;

import dev.kbx.candidate.Candidate;
import dev.kbx.task.Task;
import dev.kbx.verdict.Status;
import dev.kbx.verdict.TaskVerdict;
import dev.kbx.verdict.TaskVerdict.Control;
import dev.kbx.verdict.TaskVerdict.Kind;
import dev.kbx.verdict.Verdict;
import dev.kbx.worker.Message;
import dev.kbx.worker.Oracle;
import dev.kbx.worker.WorkerFailure;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Judges tasks by their controls. The functions of a task file run in the oracle; the kernel beside
 * it goes the way of every candidate.
 */
public final class Verification {
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private final List<Workers.Slot> slots;
  private final Plan plan;
  private final Verdict.Device device;
  private final Map<String, String> versions;

  /**
   * @param plan how kernels are judged; its secret seeds all controls
   */
  public Verification(
      List<Workers.Slot> slots, Plan plan, Verdict.Device device, Map<String, String> versions) {
    this.slots = List.copyOf(slots);
    this.plan = plan;
    this.device = device;
    this.versions = Map.copyOf(versions);
  }

  /**
   * Judges tasks over all slots, in no particular order.
   *
   * @param before verdicts given earlier, by {@link TaskVerdict#judgedAs}: these are passed on as
   *     they are
   * @param listener hears of every verdict, one at a time
   */
  public void run(List<Task> tasks, Map<String, TaskVerdict> before, Consumer<TaskVerdict> listener)
      throws InterruptedException {
    Schedule.run(
        slots,
        tasks,
        (slot, task) -> {
          String key = key(task);
          TaskVerdict known = before.get(key);
          TaskVerdict verdict = known == null ? verify(slot, task, key) : known;
          synchronized (listener) {
            listener.accept(verdict);
          }
        });
  }

  private TaskVerdict verify(Workers.Slot slot, Task task, String key) throws InterruptedException {
    long start = System.nanoTime();
    List<Control> controls = new ArrayList<>();
    String problem = null;
    try {
      for (Message.Control control : askOracle(slot, task)) controls.add(control(control));
      if (Files.exists(task.kernel())) controls.add(kernel(slot, task));
    } catch (Oracle.Refused e) {
      problem = place(task, e.answer()) + ": " + e.answer().message();
    } catch (WorkerFailure e) {
      problem = task.file() + ": " + e.getMessage();
    } catch (IOException e) {
      problem = task.kernel() + ": cannot be read (" + e.getMessage() + ")";
    }
    return new TaskVerdict(
        task.name(),
        task.suite(),
        task.category(),
        task.file().toString(),
        problem,
        controls,
        (System.nanoTime() - start) / 1e9,
        key);
  }

  private List<Message.Control> askOracle(Workers.Slot slot, Task task)
      throws InterruptedException, Oracle.Refused {
    try (Oracles.Borrowed borrowed = slot.borrow()) {
      Message.TaskVerified verified =
          borrowed
              .oracle()
              .ask(
                  Message.TaskVerified.class,
                  id ->
                      new Message.VerifyTask(
                          id,
                          task.file().toAbsolutePath().toString(),
                          Seeds.of(plan.secret(), task, "")),
                  LIMIT);
      borrowed.sound();
      return verified.controls();
    }
  }

  private static Control control(Message.Control said) {
    Kind kind = said.kind().equals("positive") ? Kind.POSITIVE : Kind.NEGATIVE;
    return new Control(said.name(), kind, said.ok(), said.status(), said.detail(), said.line());
  }

  private Control kernel(Workers.Slot slot, Task task) throws InterruptedException, IOException {
    String code = Files.readString(task.kernel());
    Candidate candidate = new Candidate(task, code, task.kernel().toString(), 0, null, null, null);
    Verdict verdict = new Judge(slot, plan, device, versions).judge("verify", candidate);
    boolean right = verdict.status() == Status.CORRECT && verdict.flags().isEmpty();
    String detail = verdict.message();
    if (verdict.status() == Status.CORRECT) {
      detail = right ? "passed all calls" : "flagged: " + String.join(", ", verdict.flags());
    }
    String name = "kernels/" + task.kernel().getFileName();
    return new Control(name, Kind.KERNEL, right, verdict.status().label(), detail, null);
  }

  private static String place(Task task, Message.Failed why) {
    String where = why.file() == null ? task.file().toString() : why.file();
    return why.line() == null ? where : where + ":" + why.line();
  }

  /** Everything a task's verdict depends on: its files, the secret, device and versions. */
  private String key(Task task) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      List<@Nullable Object> parts =
          List.of(task.suite(), task.path(), plan, device, new TreeMap<>(versions));
      digest.update(parts.toString().getBytes(StandardCharsets.UTF_8));
      digest.update(content(task.file()));
      digest.update(content(task.kernel()));
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  private static byte[] content(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      return new byte[0]; // What is wrong with it shows when it is used.
    }
  }
}

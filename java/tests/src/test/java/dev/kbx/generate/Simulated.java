package dev.kbx.generate;

import dev.kbx.candidate.Candidate;
import dev.kbx.judge.Referee;
import dev.kbx.llm.ChatModel;
import dev.kbx.llm.ChatReply;
import dev.kbx.llm.ChatReply.Usage;
import dev.kbx.llm.ChatRequest;
import dev.kbx.llm.ModelFailure;
import dev.kbx.plan.Plan;
import dev.kbx.verdict.Json;
import dev.kbx.verdict.Judgement;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;

/** A model and a referee without processes, whose answers depend on nothing but the question. */
final class Simulated {
  private Simulated() {}

  /** Answers with a kernel that has the request's key, or without one in one of eight cases. */
  static class Model implements ChatModel {
    final AtomicInteger asked = new AtomicInteger();
    final ConcurrentHashMap<String, Integer> times = new ConcurrentHashMap<>();

    @Override
    public ChatReply ask(ChatRequest request, BooleanSupplier again)
        throws ModelFailure, InterruptedException {
      asked.incrementAndGet();
      String key = request.key() + request.place();
      times.merge(key, 1, Integer::sum);
      String entry = request.place().replaceAll(".*/(\\w+),.*", "$1");
      String text =
          key.charAt(0) < '2'
              ? "I cannot."
              : "```python\ndef %s():\n    return '%s'\n```".formatted(entry, key);
      return new ChatReply(
          text, null, "stop", new Usage(100L, 50L, null, null), 0.1, "simulated-1");
    }

    @Override
    public String name() {
      return "simulated";
    }

    @Override
    public int parallel() {
      return 4;
    }
  }

  /** Half of all kernels are correct; their speedup is in their hash. */
  static class Judge implements Referee {
    final AtomicInteger judged = new AtomicInteger();

    @Override
    public Judgement judge(Candidate candidate, Plan plan) throws InterruptedException {
      judged.incrementAndGet();
      int number = Integer.parseInt(candidate.hash().substring(0, 4), 16);
      return number % 2 == 0 ? correct(number / 65536.0) : wrong();
    }

    @Override
    public int capacity() {
      return 2;
    }

    @Override
    public void expect(Plan plan, int candidates) {}
  }

  static Judgement correct(double low) {
    return judgement(
        """
        {"status":"correct","stage":"perf","call_ok":true,"exe_ok":true,
         "speedup":{"value":%1$s,"low":%1$s,"high":%1$s,"baseline":"eager"},"flags":[],
         "device":{"kind":"cuda","name":"simulated"},"versions":{},"seconds":{"static":1,"call":2}}
        """
            .formatted(low));
  }

  static Judgement wrong() {
    return judgement(
        """
        {"status":"wrong_values","stage":"correct","call_ok":true,"exe_ok":false,"flags":[],
         "message":"n=4: 3 wrong elements","device":{"kind":"cuda","name":"simulated"},
         "versions":{},"seconds":{"call":2}}
        """);
  }

  private static Judgement judgement(String json) {
    return Json.mapper().readValue(json, Judgement.class);
  }
}

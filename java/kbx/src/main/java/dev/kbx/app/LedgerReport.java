package dev.kbx.app;

import dev.kbx.analysis.TrajectoryRow;
import dev.kbx.analysis.VerdictRow;
import dev.kbx.generate.Ledger;
import dev.kbx.generate.Unit;
import dev.kbx.llm.ChatReply.Usage;
import dev.kbx.llm.ChatRequest.Message;
import dev.kbx.method.Event;
import dev.kbx.method.ProgramAnswer;
import dev.kbx.report.LineDiff;
import dev.kbx.report.ResultFiles;
import dev.kbx.report.Trajectory;
import dev.kbx.section.RatesSection;
import dev.kbx.verdict.Verdict.Speedup;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a report shows of a ledger. */
final class LedgerReport {
  /** Characters of prompts and replies that one page holds; a browser opens it without delay. */
  private static final long MOST = 12L << 20;

  /** Characters of one text. */
  private static final int LONGEST = 100_000;

  private final Map<Unit, Texts> trajectories = new LinkedHashMap<>();
  private long size;

  private LedgerReport() {}

  static ResultFiles.MethodsReport of(Path ledger, List<VerdictRow> verdicts) {
    List<TrajectoryRow> rows = Ledgers.rows(ledger, verdicts);
    LedgerReport report = new LedgerReport();
    Ledger.replay(ledger, report::add);
    return new ResultFiles.MethodsReport(
        rows,
        Ledgers.followed(ledger),
        report.trajectories.values().stream().map(Texts::trajectory).toList());
  }

  /** Trajectories that begin when the page is full are left out. */
  private void add(Unit unit, Event event) {
    Texts texts = trajectories.get(unit);
    if (texts == null) {
      if (size > MOST) return;
      texts = new Texts(unit);
      trajectories.put(unit, texts);
    }
    size += texts.add(event);
  }

  /** One trajectory while its events are read. */
  private static final class Texts {
    private final Unit unit;
    private final Map<String, Request> requests = new LinkedHashMap<>();
    private List<Message> before = List.of();
    private @Nullable String answer;
    private @Nullable String why;

    Texts(Unit unit) {
      this.unit = unit;
    }

    /** The characters that it adds. */
    long add(Event event) {
      return switch (event) {
        case Event.Feedback e -> {
          request(e.ask()).about.add(e.about());
          yield 0;
        }
        case Event.Prompt e -> prompt(e);
        case Event.Reply e -> {
          request(e.ask()).reply = e;
          yield Math.min(e.text().length(), LONGEST);
        }
        case Event.NoReply e -> {
          request(e.ask()).failure = e.message();
          yield 0;
        }
        case Event.Extraction e -> {
          request(e.ask()).rule = e.rule();
          request(e.ask()).code = e.code();
          yield 0;
        }
        case Event.RecordedSpeedup e -> {
          request(e.ask()).recorded = e;
          yield 0;
        }
        case Event.Judged e -> {
          request(e.ask()).judged = e;
          yield 0;
        }
        case Event.Selection e -> {
          answer = e.ask();
          why = e.why();
          yield 0;
        }
        case Event.Program e -> e.answer().judge().stream().mapToLong(this::own).sum();
        case Event.ProgramFailed e -> {
          why = e.what();
          yield 0;
        }
        case Event.Lost _, Event.Cap _, Event.Exchange _, Event.AgentEnded _ -> 0;
      };
    }

    /** A kernel that an external program wrote itself. */
    private long own(ProgramAnswer.Candidate candidate) {
      String code = shortened(candidate.code());
      request(candidate.id()).own = code;
      request(candidate.id()).code = code;
      return code.length();
    }

    private long prompt(Event.Prompt event) {
      Request request = request(event.ask());
      long size = 0;
      request.prompt.clear();
      for (int i = 0; i < event.messages().size(); i++) {
        Message message = event.messages().get(i);
        String old = i < before.size() ? before.get(i).text() : null;
        String role = message.role().name().toLowerCase(Locale.ROOT);
        Trajectory.Message shown = Trajectory.Message.of(role, shortened(message.text()), old);
        size += shown.text().length();
        request.prompt.add(shown);
      }
      before = event.messages();
      return size;
    }

    private Request request(String ask) {
      return requests.computeIfAbsent(ask, _ -> new Request());
    }

    /** Against the kernel that a request is told about, else the last one. */
    private @Nullable Change change(Request request, @Nullable String last) {
      String told =
          request.about.stream().filter(ask -> request(ask).code != null).findFirst().orElse(last);
      String before = told == null ? null : request(told).code;
      if (told == null || before == null || request.code == null) return null;
      return new Change(told, new LineDiff(before, request.code).hunks());
    }

    Trajectory trajectory() {
      List<Trajectory.Round> rounds = new ArrayList<>();
      String last = null;
      for (Map.Entry<String, Request> entry : requests.entrySet()) {
        Request request = entry.getValue();
        rounds.add(request.round(entry.getKey(), change(request, last)));
        if (request.code != null) last = entry.getKey();
      }
      return new Trajectory(unit.method(), unit.task(), unit.sample(), answer, why, rounds);
    }
  }

  /** What a kernel changes against that of another ask. */
  private record Change(String ask, String diff) {}

  /** One request while its events are read. */
  private static final class Request {
    private final List<String> about = new ArrayList<>();
    private final List<Trajectory.Message> prompt = new ArrayList<>();
    private Event.@Nullable Reply reply;
    private @Nullable String own;
    private @Nullable String code;
    private @Nullable String failure;
    private @Nullable String rule;
    private Event.@Nullable RecordedSpeedup recorded;
    private Event.@Nullable Judged judged;

    Trajectory.Round round(String ask, @Nullable Change change) {
      return new Trajectory.Round(
          ask,
          about.stream().distinct().toList(),
          prompt,
          reply == null ? own : shortened(reply.text()),
          failure,
          reply == null ? null : reply.model(),
          reply == null ? null : tokens(reply.usage()),
          reply == null ? null : reply.usd(),
          reply == null ? null : reply.seconds(),
          rule,
          change == null ? null : change.ask(),
          change == null ? null : change.diff(),
          judged == null ? null : judged.judgement().status().label(),
          judged == null ? null : judged.judgement().message(),
          judged == null ? null : speedup(judged.judgement().speedup()),
          recorded == null
              ? null
              : "%s, recorded on %s, %s"
                  .formatted(
                      speedup(recorded.speedup()),
                      recorded.device(),
                      recorded
                          .measured()
                          .substring(0, Math.min(10, recorded.measured().length()))));
    }

    private static @Nullable Long tokens(@Nullable Usage usage) {
      if (usage == null || usage.input() == null || usage.output() == null) return null;
      return usage.input() + usage.output();
    }

    private static @Nullable String speedup(@Nullable Speedup speedup) {
      if (speedup == null) return null;
      String ratio = RatesSection.speedup(speedup).text();
      return "%s against %s".formatted(ratio, speedup.baseline());
    }
  }

  private static String shortened(String text) {
    return text.length() <= LONGEST ? text : text.substring(0, LONGEST) + "\n… cut";
  }
}

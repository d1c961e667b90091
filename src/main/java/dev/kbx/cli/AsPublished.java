package dev.kbx.cli;

import dev.kbx.analysis.JudgedRun;
import dev.kbx.verdict.RunInfo;
import java.io.PrintStream;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Runs of results as others published them, which no output may mistake for kbx's own. */
final class AsPublished {
  private final List<RunInfo> runs;

  private AsPublished(List<RunInfo> runs) {
    this.runs = runs;
  }

  /** Those among some runs. */
  static AsPublished among(List<JudgedRun> runs) {
    return new AsPublished(
        runs.stream().map(JudgedRun::run).filter(run -> run.published() != null).toList());
  }

  /** Throws if some of the runs are as published and others were judged here. */
  static void refuseMixture(List<JudgedRun> all) {
    AsPublished published = among(all);
    if (published.runs.isEmpty() || published.runs.size() == all.size()) return;
    RunInfo judged =
        all.stream()
            .map(JudgedRun::run)
            .filter(run -> run.published() == null)
            .findFirst()
            .orElseThrow();
    throw new UserError(
        "run %s is as published and run %s was judged by kbx: analyse them one by one, or 'kbx compare' them"
            .formatted(published.runs.getFirst().id(), judged.id()));
  }

  /** Prints a line for each; nothing without one. */
  void print(PrintStream out) {
    for (RunInfo run : runs) {
      out.printf("run %s is as published (%s): kbx has judged none of it%n", run.id(), format(run));
    }
    if (!runs.isEmpty()) out.println();
  }

  /** The document, with a member that has the format of each; unchanged without one. */
  Map<String, Object> marked(Map<String, Object> document) {
    if (runs.isEmpty()) return document;
    Map<String, Object> formats = new LinkedHashMap<>();
    for (RunInfo run : runs) formats.put(run.id(), format(run));
    Map<String, Object> marked = new LinkedHashMap<>(document);
    marked.put("as_published", formats);
    return marked;
  }

  private static String format(RunInfo run) {
    RunInfo.Published published = run.published();
    return published == null ? "" : published.format();
  }
}

package dev.kbx.report;

import dev.kbx.analysis.MethodRates;
import dev.kbx.analysis.Methods;
import dev.kbx.analysis.SolvedTasks;
import dev.kbx.analysis.SolvedTasks.Group;
import dev.kbx.analysis.SolvedTasks.OnlyOne;
import dev.kbx.document.Grid;
import dev.kbx.document.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * {@link SolvedTasks} for a terminal: by category, and who alone solves how many.
 *
 * @param width columns of the terminal
 */
record SolvedTasksText(int width) {
  /** Names of tasks that are listed. */
  private static final int NAMES = 12;

  List<String> lines(Methods methods) {
    if (methods.solved().isEmpty()) return List.of();
    List<Group> groups = methods.solved().getFirst().groups();
    if (groups.isEmpty()) return List.of("", "No task has a candidate of each method.");
    PoolText text = new PoolText(width);
    boolean several = methods.methods().size() > 1;
    List<List<String>> rows = new ArrayList<>();
    rows.add(cells(several, "solved by", "tasks", "all", "some", "only one", "nobody"));
    for (Group group : groups) {
      rows.add(
          cells(
              several,
              Text.clean(group.name()),
              Integer.toString(group.tasks()),
              Integer.toString(group.all()),
              Integer.toString(group.several()),
              Integer.toString(group.one().size()),
              Integer.toString(group.none().size())));
    }
    List<String> lines = new ArrayList<>(List.of(""));
    lines.addAll(new Grid("l" + "r".repeat(rows.getFirst().size() - 1), rows).lines(width));
    Map<String, Integer> alone = new TreeMap<>();
    for (Group group : groups) {
      for (OnlyOne one : group.one()) alone.merge(letter(one, methods), 1, Integer::sum);
    }
    if (!alone.isEmpty()) {
      List<String> who = new ArrayList<>();
      alone.forEach((name, count) -> who.add(name + " " + count));
      lines.addAll(text.wrap("Solved by one alone: " + String.join(", ", who) + "."));
    }
    List<String> none = groups.stream().flatMap(group -> group.none().stream()).toList();
    if (!none.isEmpty()) lines.addAll(text.wrap("Nobody solves " + named(none) + "."));
    return lines;
  }

  private static String letter(OnlyOne one, Methods methods) {
    return PoolText.letter(
        methods.methods().stream().map(MethodRates::maker).toList().indexOf(one.maker()));
  }

  private static List<String> cells(boolean several, String... all) {
    return several ? List.of(all) : List.of(all[0], all[1], all[2], all[5]);
  }

  private static String named(List<String> tasks) {
    String names =
        String.join(
            ", ",
            tasks.subList(0, Math.min(NAMES, tasks.size())).stream().map(Text::clean).toList());
    int more = tasks.size() - NAMES;
    return more > 0 ? names + " and %d more".formatted(more) : names;
  }
}

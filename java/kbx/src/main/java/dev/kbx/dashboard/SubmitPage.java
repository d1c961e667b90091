package dev.kbx.dashboard;

import dev.kbx.task.Suite;
import dev.kbx.task.Task;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The form that submits a kernel.
 *
 * @param problem why it was refused; null before
 */
record SubmitPage(
    List<Suite> suites, Viewer viewer, SubmissionForm given, @Nullable String problem) {
  private record Choice(String value, String title) {}

  private static final List<Choice> GRADES =
      List.of(
          new Choice("published", "published: the benchmark’s own calls; the general is told, too"),
          new Choice("general", "general: all that the operation accepts"));

  private static final List<Choice> POLICIES =
      List.of(
          new Choice("", "usual for the task"),
          new Choice("kernel", "kernel: own kernels compute the result"),
          new Choice("mixed", "mixed: PyTorch may help"));

  Markup body() {
    if (!viewer.submits()) {
      return Parts.note("The token that you signed in with may not submit candidates.");
    }
    return Markup.of(
        """
        %s
        <p>The kernel is judged as <code>kbx eval</code> judges it: loaded in a sandbox, called on inputs that nobody can know, compared with the \
        reference, and timed if this machine has a GPU. That takes seconds to a minute. The page that follows shows how far it is, and then the \
        verdict; it keeps its address. <a href="/tasks">All tasks</a> with their signatures; <a href="/docs">the same over HTTP</a>.</p>
        <form class="submit" method="post" action="/submit" enctype="application/x-www-form-urlencoded">
        <input type="hidden" name="csrf" value="%s">
        %s
        <label>Task <input name="task" required value="%s" list="tasks-known" placeholder="Category/name, such as Activation/relu" autocomplete="off" spellcheck="false"></label>
        <datalist id="tasks-known">%s</datalist>
        <label>Grade <select name="grade">%s</select></label>
        <label>Policy <select name="policy">%s</select></label>
        <label>Run: a name of yours groups what belongs together <input name="run" value="%s" placeholder="service" autocomplete="off" spellcheck="false"></label>
        <label class="wide">Source: Triton functions in Python, or a model’s whole reply <textarea name="code" required rows="22" spellcheck="false" autocomplete="off">%s</textarea></label>
        <label class="wide">or take it from a file <input type="file" accept=".py,.txt,.md" data-fills="code"></label>
        <p class="actions"><button class="button">Judge it</button></p>
        </form>
        """,
        problem == null ? "" : Markup.of("<p class=\"note\" role=\"alert\">%s</p>", problem),
        viewer.csrf(),
        suiteChoice(),
        given.task(),
        Markup.each(suites, suite -> Markup.each(suite.tasks(), SubmitPage::option)),
        options(GRADES, given.grade()),
        options(POLICIES, given.policy()),
        given.run(),
        // HTML drops a first line break.
        given.code().startsWith("\n") ? "\n" + given.code() : given.code());
  }

  private Markup suiteChoice() {
    return Markup.of(
        "<label>Suite <select name=\"suite\">%s</select></label>",
        options(
            suites.stream().map(suite -> new Choice(suite.name(), suite.name())).toList(),
            given.suite()));
  }

  private static Markup option(Task task) {
    return Markup.of("<option value=\"%s\"></option>", task.path());
  }

  private static Markup options(List<Choice> choices, String chosen) {
    return Markup.each(
        choices,
        each ->
            Markup.of(
                "<option value=\"%s\"%s>%s</option>",
                each.value(),
                each.value().equals(chosen) ? new Markup(" selected") : "",
                each.title()));
  }
}

package dev.kbx.device;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** Flight-recording event: time that a candidate's thread spent on one activity. */
@Name("kbx.Span")
@Label("Span")
@Category("kbx")
@Description("What the thread of a candidate did or waited for")
@StackTrace(false)
public final class Span extends Event implements AutoCloseable {
  @Label("What")
  String what;

  private Span(String what) {
    this.what = what;
  }

  /** Begins a span, which ends when closed. */
  public static Span of(String what) {
    Span span = new Span(what);
    span.begin();
    return span;
  }

  @Override
  public void close() {
    commit();
  }
}

package dev.kbx.worker;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** Flight-recording event of a request and its answer; docs/architecture.md says how to record. */
@Name("kbx.Exchange")
@Label("Exchange")
@Category("kbx")
@Description("From the sending of a request to a worker to its answer")
@StackTrace(false)
final class Exchange extends Event {
  @Label("Peer")
  String peer;

  @Label("Request")
  String request;

  Exchange(String peer, Message request) {
    this.peer = peer;
    this.request = request.getClass().getSimpleName();
  }
}

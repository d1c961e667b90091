package dev.kbx.program;

import dev.kbx.syntax.Node;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Lists the calls of a program with their possible targets. */
final class CallCollector {
  private final ValueFlow flow;

  CallCollector(ValueFlow flow) {
    this.flow = flow;
  }

  List<Call> calls() {
    List<Call> calls = new ArrayList<>();
    for (Node node : flow.nodes()) {
      Node function = node.child("function");
      if (node.is("call") && function != null) {
        calls.add(call(node, flow.paths(flow.valuesOf(function)), node.child("arguments")));
      }
      if (node.is("decorator") && node.children().size() > 1) {
        Node definition = flow.decorated(node);
        Node applied = node.children().get(1);
        calls.add(
            new Call(
                node,
                flow.place(node),
                flow.scopeOf(node),
                flow.paths(flow.valuesOf(applied)),
                definition == null ? List.of() : List.of(definition),
                Map.of()));
      }
    }
    return List.copyOf(calls);
  }

  private Call call(Node node, Set<String> targets, @Nullable Node list) {
    List<Node> arguments = new ArrayList<>();
    Map<String, Node> keywords = new LinkedHashMap<>();
    List<Node> given = list == null ? List.of() : list.children();
    if (list != null && !list.is("argument_list")) given = List.of(list);
    for (Node each : given) {
      if (each.is("(", ")", ",", "dictionary_splat")) continue;
      Node name = each.child("name");
      Node value = each.child("value");
      if (each.is("keyword_argument") && name != null && value != null) {
        keywords.put(flow.text(name), value);
      } else {
        arguments.add(each);
      }
    }
    return new Call(node, flow.place(node), flow.scopeOf(node), targets, arguments, keywords);
  }
}

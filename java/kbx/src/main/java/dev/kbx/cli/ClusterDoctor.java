package dev.kbx.cli;

import dev.kbx.app.ClusterPool;
import dev.kbx.app.JudgingSettings;
import dev.kbx.cluster.ClusterReferee;
import dev.kbx.document.Counted;
import dev.kbx.judge.JudgingConditions;
import dev.kbx.verdict.Verdict;
import java.time.Duration;
import java.util.List;
import java.util.TreeMap;

/** What {@code kbx doctor --cluster} finds: nodes, devices and versions. */
final class ClusterDoctor {
  /** For nodes to unpack kbx and import torch. */
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  private static final Duration POLL = Duration.ofMillis(200);

  private ClusterDoctor() {}

  /** Prints it; returns whether every node that can judge does. */
  static boolean examine(JudgingSettings settings, JudgingSettings.Cluster cluster, boolean json)
      throws InterruptedException {
    try (var _ = new Interrupts("interrupted");
        ClusterReferee referee = ClusterPool.connect(settings, cluster, List.of())) {
      var _ = referee.first();
      List<ClusterReferee.Node> nodes = complete(referee);
      if (json) {
        Options.JsonFlag.print(nodes);
      } else {
        tell(cluster.address(), nodes);
      }
      return nodes.stream().allMatch(ClusterReferee.Node::complete);
    }
  }

  private static List<ClusterReferee.Node> complete(ClusterReferee referee)
      throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    List<ClusterReferee.Node> nodes = referee.nodes();
    while (!nodes.stream().allMatch(ClusterReferee.Node::complete) && System.nanoTime() < end) {
      Thread.sleep(POLL);
      nodes = referee.nodes();
    }
    return nodes;
  }

  private static void tell(String address, List<ClusterReferee.Node> nodes) {
    System.out.printf("cluster  %s: %s%n", address, Counted.of(nodes.size(), "node"));
    for (ClusterReferee.Node node : nodes) {
      System.out.printf(
          "%nnode     %s  %s, %s: %s%n",
          node.address(),
          Counted.of(node.cpus(), "CPU"),
          Counted.of(node.gpus(), "GPU"),
          state(node));
      node.up().stream().distinct().forEach(ClusterDoctor::tell);
    }
  }

  private static String state(ClusterReferee.Node node) {
    if (node.slots() == 0) return "judges nothing";
    if (!node.used()) return "is not used";
    return "%s, %d of %s up"
        .formatted(
            node.compiles() ? "compiles for those with a GPU" : "judges",
            node.up().size(),
            Counted.of(node.slots(), "slot"));
  }

  private static void tell(JudgingConditions conditions) {
    Verdict.Device device = conditions.device();
    System.out.printf(
        "         %s%s%n",
        device.name(), device.driver() == null ? "" : ", driver " + device.driver());
    new TreeMap<>(conditions.versions())
        .forEach((name, version) -> System.out.printf("         %s %s%n", name, version));
  }
}

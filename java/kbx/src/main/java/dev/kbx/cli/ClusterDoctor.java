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
      List<ClusterReferee.Site> sites = complete(referee);
      if (json) {
        Options.JsonFlag.print(sites);
      } else {
        tell(cluster.address(), sites);
      }
      return sites.stream().allMatch(ClusterReferee.Site::complete);
    }
  }

  private static List<ClusterReferee.Site> complete(ClusterReferee referee)
      throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    List<ClusterReferee.Site> sites = referee.sites();
    while (!sites.stream().allMatch(ClusterReferee.Site::complete) && System.nanoTime() < end) {
      Thread.sleep(POLL);
      sites = referee.sites();
    }
    return sites;
  }

  private static void tell(String address, List<ClusterReferee.Site> sites) {
    System.out.printf("cluster  %s: %s%n", address, Counted.of(sites.size(), "node"));
    for (ClusterReferee.Site site : sites) {
      System.out.printf(
          "%nnode     %s  %s, %s: %s%n",
          site.address(),
          Counted.of(site.cpus(), "CPU"),
          Counted.of(site.gpus(), "GPU"),
          state(site));
      site.up().stream().distinct().forEach(ClusterDoctor::tell);
    }
  }

  private static String state(ClusterReferee.Site site) {
    if (site.slots() == 0) return "judges nothing";
    if (!site.used()) return "is not used";
    return "%s, %d of %s up"
        .formatted(
            site.compiles() ? "compiles for those with a GPU" : "judges",
            site.up().size(),
            Counted.of(site.slots(), "slot"));
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

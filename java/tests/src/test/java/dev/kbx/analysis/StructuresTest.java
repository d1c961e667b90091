package dev.kbx.analysis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.SimulatedRun;
import dev.kbx.analysis.Errors.Structures.Cluster;
import dev.kbx.analysis.Errors.Structures.Variety;
import dev.kbx.verdict.SourceFeatures;
import dev.kbx.verdict.Status;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Near-duplicates among samples. */
class StructuresTest {
  private static SourceFeatures structure(String name) {
    return new SourceFeatures(name, 1, 1, List.of());
  }

  @Test
  void sourcesOfOneStructureOnOneTaskAreAlike() {
    SimulatedRun run = SimulatedRun.on(SimulatedRun.CPU, 1).by("a").featuring(structure("s"));
    run.untimed("M/x", "one").untimed("M/x", "one").wrong("M/x", "two", Status.WRONG_VALUES);
    run.featuring(structure("t")).untimed("M/x", "three");
    run.by("b").featuring(structure("s")).untimed("M/x", "four").untimed("M/y", "five");
    run.featuring(null).untimed("M/y", "six");
    Errors.Structures found = Errors.Structures.of(run.judged().rows());
    assertThat(found.unknown()).isEqualTo(1);
    assertThat(found.all()).isEqualTo(new Variety(6, 2, 5, 3));
    assertThat(found.makers())
        .extracting(Errors.Structures.VarietyOfMaker::variety)
        .containsExactly(new Variety(4, 1, 3, 2), new Variety(2, 2, 2, 2));
    assertThat(found.clusters()).containsExactly(new Cluster("M/x", "s", 4, 3, 3, 2, "x.py"));
  }

  @Test
  void clustersAreTheLargestFirst() {
    SimulatedRun run = SimulatedRun.on(SimulatedRun.CPU, 1);
    for (int task = 0; task < 4; task++) {
      for (int i = 0; i <= task; i++) {
        run.featuring(structure("s")).untimed("M/t" + task, "c" + task + i);
      }
    }
    assertThat(Errors.Structures.of(run.judged().rows()).clusters())
        .extracting(Cluster::candidates)
        .containsExactly(4, 3, 2);
  }
}

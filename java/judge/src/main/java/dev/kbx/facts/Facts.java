package dev.kbx.facts;

import dev.kbx.program.Call;
import dev.kbx.program.Kernel;
import dev.kbx.program.Program;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Facts about a program beside its verdict. Source with syntax errors has the facts of the part
 * that could be parsed.
 *
 * @param hostCalls calls of torch outside kernels, by path
 */
public record Facts(
    Quality quality,
    List<KernelFacts> kernels,
    List<LaunchFacts> launches,
    Map<String, Integer> hostCalls,
    Fingerprint fingerprint) {
  public Facts {
    kernels = List.copyOf(kernels);
    launches = List.copyOf(launches);
    hostCalls = Map.copyOf(hostCalls);
  }

  public static Facts of(Program program) {
    return new Facts(
        Quality.of(program),
        program.kernels().stream().map(kernel -> KernelFacts.of(kernel, program)).toList(),
        program.launches().stream().map(launch -> LaunchFacts.of(launch, program)).toList(),
        hostCalls(program),
        Fingerprint.of(program.source()));
  }

  private static Map<String, Integer> hostCalls(Program program) {
    Map<String, Integer> counts = new TreeMap<>();
    for (Call call : program.calls()) {
      if (program.kernels().stream().anyMatch(kernel -> within(call, kernel))) continue;
      for (String target : call.targets()) {
        if (target.startsWith("torch.")) counts.merge(target, 1, Integer::sum);
      }
    }
    return counts;
  }

  private static boolean within(Call call, Kernel kernel) {
    return call.scope().within(kernel.scope());
  }
}

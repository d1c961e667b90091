package dev.kbx.check;

import dev.kbx.program.Call;
import java.util.List;
import java.util.Set;

/** Values go to the host and come back. */
final class CpuOffload implements Rule {
  private static final Set<String> BACK =
      Set.of("torch.from_numpy", "torch.frombuffer", "torch.as_tensor", "torch.tensor");

  @Override
  public About about() {
    return new About(
        "cpu-offload",
        Severity.REJECT,
        "work on the host",
        "What is computed on the host is no kernel, and its time is no device time.",
        "compute on the device, in the kernel",
        """
        import torch


        def kernel_function(x):
            return torch.from_numpy(x.cpu().numpy() * 2).cuda()
        """);
  }

  @Override
  public void check(Subject subject, Report report) {
    Judged judged = subject.judged();
    List<Call> there = judged.calls(path -> path.startsWith("?") && path.endsWith(".numpy"));
    if (there.isEmpty() || judged.calls(BACK::contains).isEmpty()) return;
    for (Call call : there) {
      report.found(call.place(), "takes values to the host, from where others come back");
    }
  }
}

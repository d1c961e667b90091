package dev.kbx.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One example of {@code kbx export training}, a line and a row of Parquet. What is not known is
 * null here and absent in the files.
 *
 * @param schema version of these fields
 * @param messages what the model was asked, from the ledger; null for kernels that were not written
 *     in a run of methods
 * @param reply the model's raw reply; null as above, and where a program brought the kernel
 * @param kernel the source that was judged
 * @param candidate SHA-256 of the kernel, hex
 * @param structure equal for kernels that differ in names, constants, comments and layout alone
 * @param status of the verdict: {@code correct}
 * @param grade which calls decided
 * @param publishedOk whether it is right at the published grade, and {@code generalOk} at the
 *     general one
 * @param holds properties of calls beyond the published grade for which it is right
 * @param speedupLow lower end of the speedup's 95 % interval
 * @param source where the kernel was read from
 * @param judged when the run that judged it began, ISO 8601
 * @param taskLicence of the task's statement and reference, where kbx brings it
 * @param kernelLicence of the kernel, as given with {@code --licence}
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record TrainingRow(
    int schema,
    String suite,
    String category,
    String task,
    @Nullable List<Message> messages,
    @Nullable String reply,
    String kernel,
    String candidate,
    @Nullable String structure,
    @Nullable String method,
    @Nullable String model,
    int sample,
    @Nullable Integer round,
    String status,
    @Nullable String grade,
    @Nullable String policy,
    @Nullable String precision,
    @Nullable Boolean publishedOk,
    @Nullable Boolean generalOk,
    @Nullable List<String> holds,
    @Nullable Double speedup,
    @Nullable Double speedupLow,
    @Nullable Double speedupHigh,
    @Nullable String baseline,
    String device,
    @Nullable String deviceUuid,
    @Nullable String driver,
    @Nullable String kbx,
    @Nullable String torch,
    @Nullable String triton,
    String run,
    String judged,
    String source,
    @Nullable String taskLicence,
    @Nullable String kernelLicence) {
  static final int SCHEMA = 1;

  /** One message to the model. */
  record Message(String role, String content) {}
}

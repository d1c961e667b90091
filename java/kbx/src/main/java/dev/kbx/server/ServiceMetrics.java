package dev.kbx.server;

import dev.kbx.judge.WorkQueue;
import dev.kbx.verdict.Judgement;
import dev.kbx.verdict.Stage;
import dev.kbx.verdict.Verdict;
import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Set;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;

/** Metrics of the service, for Prometheus. */
final class ServiceMetrics {
  /** Stages that run something on the device. */
  private static final Set<String> ON_DEVICE =
      Set.of(Stage.CALL.label(), Stage.CORRECT.label(), Stage.PERF.label());

  private final PrometheusRegistry registry = new PrometheusRegistry();
  private final Counter accepted =
      Counter.builder()
          .name("kbx_candidates_accepted_total")
          .help("Candidates accepted.")
          .register(registry);
  private final Counter verdicts =
      Counter.builder()
          .name("kbx_verdicts_total")
          .help("Verdicts by status.")
          .labelNames("status")
          .register(registry);
  private final Histogram stages =
      Histogram.builder()
          .name("kbx_stage_seconds")
          .help("Seconds of a stage of a judgement.")
          .labelNames("stage")
          .classicUpperBounds(0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100)
          .classicOnly()
          .register(registry);
  private final Counter devices =
      Counter.builder()
          .name("kbx_device_seconds_total")
          .help("Seconds that candidates had a device, by stage; in perf each has it alone.")
          .labelNames("device", "uuid", "stage")
          .register(registry);
  private final Counter failures =
      Counter.builder()
          .name("kbx_judging_failures_total")
          .help("Candidates that had to be judged again.")
          .register(registry);
  private final Counter requests =
      Counter.builder()
          .name("kbx_http_responses_total")
          .help("Responses by status.")
          .labelNames("status")
          .register(registry);
  private final long started = System.nanoTime();
  private long judged;

  void watch(Supplier<WorkQueue.Count> queue, DoubleSupplier oldest, StoreHealth store) {
    gauge("kbx_queue_depth", "Candidates that wait.", () -> queue.get().waiting());
    gauge("kbx_judging", "Candidates being judged.", () -> queue.get().leased());
    gauge("kbx_queue_oldest_seconds", "Age of the oldest that waits.", oldest);
    gauge(
        "kbx_store_up", "1 if the store can be written.", () -> store.missing().isEmpty() ? 1 : 0);
  }

  private void gauge(String name, String help, DoubleSupplier value) {
    GaugeWithCallback.builder()
        .name(name)
        .help(help)
        .callback(callback -> callback.call(value.getAsDouble()))
        .register(registry);
  }

  void accepted(int count) {
    accepted.inc(count);
  }

  /**
   * @param known whether it was remembered: it took no time now
   */
  synchronized void verdict(Judgement verdict, boolean known) {
    judged++;
    verdicts.labelValues(verdict.status().label()).inc();
    Map<String, Double> seconds = verdict.seconds();
    if (seconds == null || known) return;
    seconds.forEach((stage, time) -> took(verdict.device(), stage, time));
  }

  private void took(Verdict.Device device, String stage, double seconds) {
    stages.labelValues(stage).observe(seconds);
    if (!ON_DEVICE.contains(stage)) return;
    String uuid = device.uuid() == null ? "" : device.uuid();
    devices.labelValues(device.name(), uuid, stage).inc(seconds);
  }

  /** A candidate has to be judged again. */
  void again() {
    failures.inc();
  }

  /** Counts a failure that is unexpected. */
  void failure(Throwable failure) {
    again();
    System.getLogger("dev.kbx.server").log(System.Logger.Level.WARNING, "judging failed", failure);
  }

  void response(int status) {
    requests.labelValues(Integer.toString(status)).inc();
  }

  /** How long so many judgements take, by what was seen so far: 1 to 60 seconds. */
  synchronized int secondsFor(int count) {
    double rate = judged / Math.max(1, (System.nanoTime() - started) / 1e9);
    return rate == 0 ? 5 : (int) Math.clamp(Math.ceil(count / rate), 1, 60);
  }

  /** The text that Prometheus reads. */
  byte[] text() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      PrometheusTextFormatWriter.create().write(out, registry.scrape());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.toByteArray();
  }
}

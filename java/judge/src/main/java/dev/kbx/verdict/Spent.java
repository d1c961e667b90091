package dev.kbx.verdict;

import com.fasterxml.jackson.annotation.JsonIgnore;

/**
 * What a method spent. Cached replies are free.
 *
 * @param calls requests to models
 * @param requests sent for them: more where some had to be repeated
 * @param lost of the calls, in flight when kbx was killed
 * @param tokens input and output, as far as providers told
 * @param uncounted requests whose tokens are not known, or only in part
 * @param usd as far as prices are known
 * @param unpriced requests whose cost is not known
 * @param modelSeconds of waiting for replies; not in files, as it is not a property of the method
 * @param deviceSeconds of judging for feedback
 * @param reported of the calls, those that an external program made itself, by its own word
 */
public record Spent(
    long calls,
    long requests,
    long lost,
    long tokens,
    long uncounted,
    double usd,
    long unpriced,
    @JsonIgnore double modelSeconds,
    double deviceSeconds,
    long reported) {
  public static final Spent NOTHING = new Amounts().spent();

  public Spent plus(Spent other) {
    return new Amounts()
        .calls(calls + other.calls)
        .requests(requests + other.requests)
        .lost(lost + other.lost)
        .tokens(tokens + other.tokens)
        .uncounted(uncounted + other.uncounted)
        .usd(usd + other.usd)
        .unpriced(unpriced + other.unpriced)
        .modelSeconds(modelSeconds + other.modelSeconds)
        .deviceSeconds(deviceSeconds + other.deviceSeconds)
        .reported(reported + other.reported)
        .spent();
  }

  /** Amounts by name, each 0 unless it is set: ten numbers in a row are easily mistaken. */
  public static final class Amounts {
    private long calls;
    private long requests;
    private long lost;
    private long tokens;
    private long uncounted;
    private double usd;
    private long unpriced;
    private double modelSeconds;
    private double deviceSeconds;
    private long reported;

    public Amounts calls(long many) {
      calls = many;
      return this;
    }

    public Amounts requests(long many) {
      requests = many;
      return this;
    }

    public Amounts lost(long many) {
      lost = many;
      return this;
    }

    public Amounts tokens(long many) {
      tokens = many;
      return this;
    }

    public Amounts uncounted(long many) {
      uncounted = many;
      return this;
    }

    public Amounts usd(double amount) {
      usd = amount;
      return this;
    }

    public Amounts unpriced(long many) {
      unpriced = many;
      return this;
    }

    public Amounts modelSeconds(double amount) {
      modelSeconds = amount;
      return this;
    }

    public Amounts deviceSeconds(double amount) {
      deviceSeconds = amount;
      return this;
    }

    public Amounts reported(long many) {
      reported = many;
      return this;
    }

    public Spent spent() {
      return new Spent(
          calls,
          requests,
          lost,
          tokens,
          uncounted,
          usd,
          unpriced,
          modelSeconds,
          deviceSeconds,
          reported);
    }
  }
}

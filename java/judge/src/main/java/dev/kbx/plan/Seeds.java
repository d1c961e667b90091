package dev.kbx.plan;

import dev.kbx.task.Task;
import java.nio.charset.StandardCharsets;
import java.security.InvalidKeyException;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Derives the seed of a candidate's inputs: HMAC-SHA-256 of its task and source under a secret of
 * this installation.
 *
 * <p>Inputs cannot be predicted without the secret. What a verdict reveals about them (wrong
 * elements, the candidate's output) does not help the next attempt, whose source, and so whose
 * seed, differs. The same machine judges the same candidate on the same inputs every time.
 */
public final class Seeds {
  private Seeds() {}

  /** Bytes of a secret's name, enough to tell two secrets apart. */
  private static final int NAME = 4;

  /** Seed for a candidate, by the hash of its source; empty for a task's own controls. */
  public static String of(String secret, Task task, String source) {
    return derived(secret, task.suite() + "/" + task.path() + "/" + source, 16);
  }

  /** Name of a secret, by which runs record whether they had the same one. */
  public static String name(String secret) {
    return derived(secret, "name", NAME);
  }

  private static String derived(String secret, String of, int bytes) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
      byte[] digest = mac.doFinal(of.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest, 0, bytes);
    } catch (NoSuchAlgorithmException | InvalidKeyException e) {
      throw new IllegalStateException("every JDK has HMAC-SHA-256", e);
    }
  }
}

package dev.kbx.llm;

import java.security.cert.CertificateException;
import java.util.Optional;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import org.jspecify.annotations.Nullable;

/** What about TLS will not get better by itself. */
final class TlsFailure {
  private static final int DEEPEST = 10;

  /** How the JVM says that the other side speaks no TLS: "Unrecognized SSL message, …". */
  private static final String NO_TLS = "ecognized SSL message";

  /** How it says that the other side refused the handshake. */
  private static final String ALERT = "Received fatal alert";

  private TlsFailure() {}

  /**
   * Why no connection can be trusted, in words; empty if the connection may succeed later, as one
   * does that was lost during the handshake.
   */
  static Optional<String> lasting(Throwable failure) {
    CertificateException certificate = cause(failure, CertificateException.class);
    if (certificate != null) return Optional.of("its certificate is refused: " + root(certificate));
    SSLException tls = cause(failure, SSLException.class);
    if (tls == null) return Optional.empty();
    String said = String.valueOf(tls.getMessage());
    if (said.contains(NO_TLS)) return Optional.of("it does not speak TLS");
    return tls instanceof SSLHandshakeException && said.contains(ALERT)
        ? Optional.of("no TLS connection: " + said)
        : Optional.empty();
  }

  private static <T extends Throwable> @Nullable T cause(Throwable failure, Class<T> type) {
    Throwable at = failure;
    for (int i = 0; at != null && i < DEEPEST; i++) {
      if (type.isInstance(at)) return type.cast(at);
      at = at.getCause();
    }
    return null;
  }

  /** The message of the first cause. */
  private static String root(Throwable failure) {
    Throwable at = failure;
    for (int i = 0; at.getCause() != null && i < DEEPEST; i++) at = at.getCause();
    return String.valueOf(at.getMessage());
  }
}

package dev.kbx.llm;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The body of an answer as a stream whose reads end when nothing arrives for too long: the HTTP
 * client's own timeouts end with the headers. Closing it ends the connection, unless the body was
 * read to its end.
 */
final class ReplyBody extends InputStream implements BodySubscriber<ReplyBody> {
  /** No reply is longer; a broken server may send without end. */
  private static final long LONGEST = 16L << 20;

  /** Nothing arrived for too long. */
  static final class Silence extends IOException {
    private static final long serialVersionUID = 1;
  }

  private sealed interface Signal {}

  private record Chunk(List<ByteBuffer> buffers) implements Signal {}

  private record End(@Nullable Throwable failure) implements Signal {}

  private final Duration silence;
  private final BlockingQueue<Signal> signals = new LinkedBlockingQueue<>();
  private final Queue<ByteBuffer> buffers = new ArrayDeque<>();
  private final CompletableFuture<Flow.Subscription> subscription = new CompletableFuture<>();
  private boolean ended;
  private long length;

  ReplyBody(Duration silence) {
    this.silence = silence;
  }

  @Override
  public CompletionStage<ReplyBody> getBody() {
    return CompletableFuture.completedStage(this);
  }

  @Override
  public void onSubscribe(Flow.Subscription source) {
    subscription.complete(source);
    source.request(1);
  }

  @Override
  public void onNext(List<ByteBuffer> items) {
    signals.add(new Chunk(items));
  }

  @Override
  public void onError(Throwable failure) {
    signals.add(new End(failure));
  }

  @Override
  public void onComplete() {
    signals.add(new End(null));
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] bytes, int offset, int wanted) throws IOException {
    if (wanted == 0) return 0;
    ByteBuffer buffer = next();
    if (buffer == null) return -1;
    int count = Math.min(wanted, buffer.remaining());
    buffer.get(bytes, offset, count);
    return count;
  }

  /** A buffer with something in it; null at the end. */
  private @Nullable ByteBuffer next() throws IOException {
    while (true) {
      ByteBuffer first = buffers.peek();
      if (first != null && first.hasRemaining()) return first;
      if (first != null) buffers.remove();
      else if (ended) return null;
      else receive();
    }
  }

  private void receive() throws IOException {
    switch (awaited()) {
      case Chunk(List<ByteBuffer> arrived) -> {
        for (ByteBuffer buffer : arrived) length += buffer.remaining();
        if (length > LONGEST) throw new IOException("longer than 16 MiB");
        buffers.addAll(arrived);
        subscription.join().request(1);
      }
      case End(Throwable failure) -> {
        ended = true;
        if (failure instanceof IOException e) throw e;
        if (failure != null) throw new IOException(failure);
      }
    }
  }

  private Signal awaited() throws IOException {
    try {
      Signal signal = signals.poll(silence.toNanos(), TimeUnit.NANOSECONDS);
      if (signal == null) throw new Silence();
      return signal;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException();
    }
  }

  @Override
  public void close() {
    if (!ended && subscription.isDone()) subscription.join().cancel();
  }
}

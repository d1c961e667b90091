package dev.kbx.mcp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Bundled;
import dev.kbx.error.EnvironmentException;
import dev.kbx.judge.JudgingDevice;
import dev.kbx.prompt.Statement;
import dev.kbx.store.RunStore;
import dev.kbx.syntax.SyntaxCheck;
import dev.kbx.task.Suite;
import dev.kbx.verdict.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.channels.Channels;
import java.nio.channels.Pipe;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/** Several requests at a time, of which one takes long. */
@Timeout(30)
class StdioServerTest {
  private static final String JUDGE =
      """
      {"jsonrpc":"2.0","id":"long","method":"tools/call","params":{"name":"judge",\
      "arguments":{"task":"relu","source":"x"},"_meta":{"progressToken":7}}}\
      """;
  private static final String PING = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";

  private final Slow backend = new Slow();
  private PrintStream to;
  private BufferedReader from;
  private Thread server;

  /** Judges until it may end. */
  private static final class Slow implements ToolBackend {
    final CountDownLatch begun = new CountDownLatch(1);
    final CountDownLatch mayEnd = new CountDownLatch(1);
    final CountDownLatch interrupted = new CountDownLatch(1);

    @Override
    public void need(Scope scope) {}

    @Override
    public List<Suite> suites() {
      return List.of(Bundled.suite("kernelbenchx"));
    }

    @Override
    public Statement statement() {
      return Bundled.STATEMENT;
    }

    @Override
    public SyntaxCheck syntax() {
      return SyntaxCheck.PARSER;
    }

    @Override
    public List<JudgingDevice> devices() {
      return List.of();
    }

    @Override
    public RunStore store() {
      throw new EnvironmentException("there is no store");
    }

    @Override
    public Optional<Path> python() {
      return Optional.empty();
    }

    @Override
    public Judged judge(Kernel kernel) throws InterruptedException {
      begun.countDown();
      try {
        mayEnd.await();
      } catch (InterruptedException e) {
        interrupted.countDown();
        throw e;
      }
      throw new EnvironmentException("the device is lost");
    }
  }

  @BeforeEach
  void start() throws IOException {
    Pipe in = Pipe.open();
    Pipe out = Pipe.open();
    from =
        new BufferedReader(
            new InputStreamReader(Channels.newInputStream(out.source()), StandardCharsets.UTF_8));
    to = new PrintStream(Channels.newOutputStream(in.sink()), true, StandardCharsets.UTF_8);
    InputStream read = Channels.newInputStream(in.source());
    PrintStream written =
        new PrintStream(Channels.newOutputStream(out.sink()), false, StandardCharsets.UTF_8);
    server =
        Thread.ofPlatform()
            .daemon()
            .start(() -> {
              try (written) {
                new StdioServer(backend, written).serve(read);
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
  }

  @AfterEach
  void stop() throws Exception {
    backend.mayEnd.countDown();
    server.interrupt();
    server.join(10_000);
  }

  private JsonNode read() throws IOException {
    return Json.mapper().readTree(from.readLine());
  }

  /** The next message that is no notification. */
  private JsonNode answer() throws IOException {
    JsonNode message = read();
    while (!message.has("id")) message = read();
    return message;
  }

  @Test
  void otherRequestsAreAnsweredMeanwhileAndProgressIsTold() throws Exception {
    to.println(JUDGE);
    backend.begun.await();
    to.println(PING);
    assertThat(answer().get("id").asInt()).isOne();
    JsonNode progress = read();
    assertThat(progress.get("method").asString()).isEqualTo("notifications/progress");
    assertThat(progress.at("/params/progressToken").asInt()).isEqualTo(7);
    assertThat(progress.at("/params/message").asString()).matches("judge: \\d+ s");
    backend.mayEnd.countDown();
    JsonNode answer = answer();
    assertThat(answer.get("id").asString()).isEqualTo("long");
    assertThat(answer.at("/result/isError").asBoolean()).isTrue();
    assertThat(answer.at("/result/content/0/text").asString()).isEqualTo("the device is lost");
  }

  @Test
  void aCancelledCallIsStoppedAndNotAnswered() throws Exception {
    to.println(JUDGE);
    backend.begun.await();
    to.println(
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"long\"}}");
    backend.interrupted.await();
    to.println(PING);
    assertThat(answer().get("id").asInt()).isOne();
    to.close();
    assertThat(from.readLine()).isNull();
  }

  @Test
  void whatIsBeingWorkedOnIsAnsweredAfterTheEndOfInput() throws Exception {
    to.println(JUDGE);
    backend.begun.await();
    to.close();
    backend.mayEnd.countDown();
    assertThat(answer().get("id").asString()).isEqualTo("long");
    assertThat(from.readLine()).isNull();
  }

  @Test
  void aStopInterruptsTheCallAlthoughInputIsOpen() throws Exception {
    to.println(JUDGE);
    backend.begun.await();
    server.interrupt();
    backend.interrupted.await();
    server.join(10_000);
    assertThat(server.isAlive()).isFalse();
  }
}

package dev.kbx.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kbx.Patience;
import dev.kbx.server.RawConnection.Answer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.zip.CRC32;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.commons.compress.archivers.tar.TarArchiveEntry;
import org.apache.commons.compress.archivers.tar.TarArchiveOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bodies that are cut off, spoiled or not what they say: refused in one line, never with 500. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(Patience.SECONDS)
class BrokenBodiesTest {
  private static final byte[] CODE =
      "def relu(x):\n    return x\n".getBytes(StandardCharsets.UTF_8);

  private Path folder = Path.of("");
  private ScriptedServer server;

  @BeforeAll
  void start(@TempDir Path given) throws Exception {
    folder = given.toRealPath();
    server = new ScriptedServer(folder, false);
  }

  @AfterAll
  void stop() {
    server.close();
  }

  /** Kinds of archives with two files in them. */
  enum Kind {
    ZIP("application/zip") {
      @Override
      byte[] archive() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
          for (String name : NAMES) {
            zip.putNextEntry(new ZipEntry(name));
            zip.write(CODE);
          }
        }
        return bytes.toByteArray();
      }
    },
    TAR("application/x-tar") {
      @Override
      byte[] archive() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (TarArchiveOutputStream tar = new TarArchiveOutputStream(bytes, 512, "UTF-8")) {
          for (String name : NAMES) {
            TarArchiveEntry entry = new TarArchiveEntry(name);
            entry.setSize(CODE.length);
            tar.putArchiveEntry(entry);
            tar.write(CODE);
            tar.closeArchiveEntry();
          }
        }
        return bytes.toByteArray();
      }
    },
    TAR_GZ("application/gzip") {
      @Override
      byte[] archive() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
          gzip.write(TAR.archive());
        }
        return bytes.toByteArray();
      }
    };

    private static final List<String> NAMES = List.of("Activation/relu.py", "Activation/gelu.py");

    final String type;

    Kind(String type) {
      this.type = type;
    }

    abstract byte[] archive() throws IOException;
  }

  private HttpResponse<String> upload(String type, byte[] body) throws Exception {
    return server.send(
        server
            .to("/v1/uploads?skip=true")
            .header("Content-Type", type)
            .POST(BodyPublishers.ofByteArray(body)));
  }

  /** Accepted, or refused in a line that tells nothing of the server. */
  private int isAnswered(HttpResponse<String> response, String of) {
    assertThat(response.statusCode()).as(of + response.body()).isIn(200, 202, 400, 413, 422);
    assertThat(response.body()).as(of).doesNotContain("\n", folder.toString());
    return response.statusCode();
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void truncatedArchiveIsRefused(Kind kind) throws Exception {
    byte[] whole = kind.archive();
    Map<Integer, Integer> statuses = new TreeMap<>();
    for (int length = 0; length < whole.length; length += Math.max(1, whole.length / 150)) {
      int status =
          isAnswered(upload(kind.type, Arrays.copyOf(whole, length)), kind + " of " + length);
      statuses.merge(status, 1, Integer::sum);
    }
    assertThat(statuses).as(kind.name()).containsKey(422);
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void corruptArchiveIsRefused(Kind kind) throws Exception {
    byte[] whole = kind.archive();
    Random random = new Random(5);
    for (int i = 0; i < 100; i++) {
      byte[] spoiled = whole.clone();
      int at = random.nextInt(whole.length);
      spoiled[at] = (byte) random.nextInt(256);
      isAnswered(upload(kind.type, spoiled), "%s at %d: %d".formatted(kind, at, spoiled[at]));
    }
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void archiveOfAnotherTypeIsRefused(Kind kind) throws Exception {
    byte[] noise = new byte[2_000];
    new Random(1).nextBytes(noise);
    HttpResponse<String> refused = upload(kind.type, noise);
    assertThat(isAnswered(refused, "noise")).isEqualTo(422);
    assertThat(refused.body()).contains("it is neither zip, tar nor gzip");
    byte[] magic = noise.clone();
    System.arraycopy(kind.archive(), 0, magic, 0, 4);
    assertThat(isAnswered(upload(kind.type, magic), "magic")).isEqualTo(422);
  }

  /** Sizes of an entry that do not fit, in the fields of ZIP64. */
  @ParameterizedTest
  @ValueSource(longs = {0, 1, 0x7fff_ffffL, 0xffff_ffffL, Long.MAX_VALUE, -1})
  void zip64ArchiveWithFalseSizesIsRefused(long size) throws Exception {
    CRC32 crc = new CRC32();
    crc.update(CODE);
    byte[] name = "Activation/relu.py".getBytes(StandardCharsets.US_ASCII);
    ByteBuffer zip = ByteBuffer.allocate(400).order(ByteOrder.LITTLE_ENDIAN);
    zip.putInt(0x04034b50).putShort((short) 45).putShort((short) 0).putShort((short) 0);
    zip.putInt(0).putInt((int) crc.getValue()).putInt(-1).putInt(-1);
    zip.putShort((short) name.length).putShort((short) 20).put(name);
    zip.putShort((short) 1).putShort((short) 16).putLong(size).putLong(size).put(CODE);
    byte[] lying = Arrays.copyOf(zip.array(), zip.position());
    int status = isAnswered(upload("application/zip", lying), size + ": ");
    if (size > 0) assertThat(status).isEqualTo(422);
  }

  @ParameterizedTest
  @ValueSource(strings = {"a|a", "a|a/b", "a/b|a", "a/b/c|a/b", "LONG/x", "LONG", "DEEP"})
  void archiveEntriesThatAreNotFilesAreRefused(String names) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (TarArchiveOutputStream tar = new TarArchiveOutputStream(bytes, "UTF-8")) {
      tar.setLongFileMode(TarArchiveOutputStream.LONGFILE_GNU);
      String all = names.replace("LONG", "é".repeat(200)).replace("DEEP", "d/".repeat(1_900) + "x");
      for (String name : all.split("\\|", -1)) {
        TarArchiveEntry entry = new TarArchiveEntry(name);
        entry.setSize(1);
        tar.putArchiveEntry(entry);
        tar.write('x');
        tar.closeArchiveEntry();
      }
    }
    assertThat(isAnswered(upload("application/x-tar", bytes.toByteArray()), names)).isEqualTo(422);
  }

  /** Of files that cannot be used, messages have the names that the client gave. */
  @Test
  void errorsNameNoServerPath() throws Exception {
    for (String name : List.of("relu.py", "Nothing/none.py", "x/y/z.py", "README", "p.jsonl")) {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
        zip.putNextEntry(new ZipEntry(name));
        zip.write(new byte[] {'n', 'o', (byte) 0xff, 0, '\n'});
      }
      for (String query : List.of("?skip=false", "?skip=true", "?suite=none")) {
        HttpResponse<String> response =
            server.send(
                server
                    .to("/v1/uploads" + query)
                    .header("Content-Type", "application/zip")
                    .POST(BodyPublishers.ofByteArray(bytes.toByteArray())));
        assertThat(response.statusCode()).as(name + response.body()).isEqualTo(422);
        assertThat(response.body()).as(name).doesNotContain(folder.toString(), "upload", "/tmp");
      }
    }
    for (String row :
        List.of("", "\n", "no", "{}", "{\"file\":\"/etc/passwd\",\"predict\":\"x\"}")) {
      HttpResponse<String> response = server.post("/v1/judgements", "application/x-ndjson", row);
      assertThat(response.statusCode()).as(row + response.body()).isEqualTo(422);
      assertThat(response.body()).as(row).doesNotContain(folder.toString(), "upload", "/tmp");
    }
  }

  private Answer raw(String body, String... headers) throws Exception {
    try (RawConnection client = RawConnection.to(server.url())) {
      String more = String.join("", Arrays.stream(headers).map(each -> each + "\r\n").toList());
      Answer answer =
          client
              .push(
                  "POST /v1/judgements HTTP/1.1\r\nHost: localhost\r\n%s\r\n%s"
                      .formatted(more, body))
              .answer();
      assertThat(client.endsWithin(Duration.ofSeconds(15))).as(body).isTrue();
      return answer;
    }
  }

  /** Where the next request would begin is not known: the connection ends. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "zz\r\n{}\r\n0\r\n\r\n",
        "-1\r\n{}\r\n0\r\n\r\n",
        "ffffffffffffffff\r\n{}\r\n",
        "80000000\r\n{}\r\n",
        "\r\n{}\r\n0\r\n\r\n",
        " 2\r\n{}\r\n0\r\n\r\n",
        "0x2\r\n{}\r\n0\r\n\r\n",
        "2\r\n{}\r\nzz\r\n\r\n",
      })
  void malformedChunkSizesAreRefused(String body) throws Exception {
    for (String type : List.of("application/json", "application/x-ndjson", "text/plain")) {
      Answer answer = raw(body, "Transfer-Encoding: chunked", "Content-Type: " + type);
      assertThat(answer.status()).as(type + answer).isIn(400, 413, 415);
      if (answer.status() != 415) {
        assertThat(answer.headers()).containsEntry("connection", "close");
      }
      assertThat(answer.body()).doesNotContain("\n");
    }
  }

  /** Anybody may end a connection anywhere: the server is not at fault. */
  @ParameterizedTest
  @CsvSource({
    "/login, application/x-www-form-urlencoded",
    "/logout, application/x-www-form-urlencoded",
    "/submit, application/x-www-form-urlencoded",
    "/v1/judgements, application/json",
    "/v1/judgements, application/x-ndjson",
    "/v1/uploads, application/zip",
    "/nothing, text/plain",
  })
  void truncatedBodyIsRefused(String path, String type) throws Exception {
    Faults faults = new Faults();
    Logger log = Logger.getLogger("dev.kbx.server");
    log.addHandler(faults);
    try {
      for (String length : List.of("Content-Length: 9", "Transfer-Encoding: chunked")) {
        String head =
            "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\n%s\r\n\r\n"
                .formatted(path, type, length);
        for (String begun : List.of("", length.startsWith("C") ? "a=" : "5\r\na=")) {
          for (int i = 0; i < 20; i++) RawConnection.to(server.url()).push(head + begun).reset();
          try (RawConnection client = RawConnection.to(server.url())) {
            Answer answer = client.push(head + begun).end().answer();
            assertThat(answer.status()).as(answer.body()).isIn(400, 404);
            assertThat(client.endsWithin(Duration.ofSeconds(15))).isTrue();
          }
        }
      }
      assertThat(server.get("/v1/queue").statusCode()).isEqualTo(200);
    } finally {
      log.removeHandler(faults);
    }
    assertThat(faults.told).isEmpty();
  }

  /** What is logged as worth a look. */
  private static final class Faults extends Handler {
    final List<String> told = new CopyOnWriteArrayList<>();

    @Override
    public void publish(LogRecord each) {
      if (each.getLevel().intValue() >= Level.WARNING.intValue()) {
        told.add(each.getMessage() + ": " + each.getThrown());
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  @ParameterizedTest
  @CsvSource({"x", "-1", "99999999999999999999", "'2, 3'", "''"})
  void malformedContentLengthIsRefused(String length) throws Exception {
    Answer answer = raw("{}", "Content-Length: " + length, "Content-Type: application/json");
    assertThat(answer.status()).as(answer.body()).isEqualTo(400);
  }

  @ParameterizedTest
  @CsvSource({
    "'{\"task\":\"relu\",\"code\":\"a\",\"code\":\"b\"}', /code",
    "'{\"candidates\":[{\"task\":\"relu\",\"code\":\"a\"},{\"task\":\"relu\",\"task\":\"gelu\"}]}',"
        + " /candidates/1/task",
    "'{\"task\":\"relu\",\"code\":\"a\",\"plan\":{\"grade\":\"general\",\"grade\":\"published\"}}',"
        + " /plan/grade",
    "'{\"task\":\"relu\",\"code\":\"a\",\"x\":[{\"y\":1,\"y\":1}]}', /x/0/y",
  })
  void duplicateMembersAreRefused(String body, String pointer) throws Exception {
    HttpResponse<String> response = server.post("/v1/judgements", "application/json", body);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
    assertThat(ScriptedServer.json(response).path("pointer").asString()).isEqualTo(pointer);
    assertThat(response.body()).contains(pointer + ": is there twice");
  }

  @Test
  void duplicateParametersAreRefused() throws Exception {
    HttpResponse<String> response = server.get("/v1/runs?limit=1&limit=2");
    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(response.body()).contains("limit: is given more than once");
  }
}

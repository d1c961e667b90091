package dev.kbx.worker;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Words of the wire become constants, and only those that the protocol has. */
class FramesTest {
  private static Message parse(String json) throws Frames.Unreadable {
    return Frames.parse(json.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
  }

  private static RunnerMessage.Raised.Kind raised(String kind) throws Frames.Unreadable {
    String json =
        "{'type':'raised','id':1,'kind':%s,'exception':'E','message':'','frames':[],'compiled':[]}"
            .formatted(kind);
    return ((RunnerMessage.Raised) parse(json)).kind();
  }

  @Test
  void enumsHaveProtocolNames() throws Exception {
    assertThat(parse("{'type':'failed','id':1,'reason':'invalid_task','message':'x'}"))
        .isEqualTo(new Message.Failed(1, Message.Failed.Reason.INVALID_TASK, "x", null, null));
    assertThat(((ZygoteMessage.Exited) parse("{'type':'exited','runner':1,'reason':'killed'}")))
        .extracting(ZygoteMessage.Exited::reason)
        .hasToString("killed");
    OracleMessage.Checked wrong = checked(OracleMessage.Checked.Status.WRONG_VALUES);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    new Frames(new ByteArrayInputStream(new byte[0]), out, () -> 0).write(0, wrong);
    assertThat(out.toString(StandardCharsets.UTF_8)).contains("\"status\":\"wrong_values\"");
    byte[] payload =
        requireNonNull(new Frames(new ByteArrayInputStream(out.toByteArray()), out, () -> 0).read())
            .payload();
    assertThat(Frames.parse(payload)).isEqualTo(wrong);
    assertThat(wrong.correct()).isFalse();
    assertThat(checked(OracleMessage.Checked.Status.CORRECT).correct()).isTrue();
  }

  private static OracleMessage.Checked checked(OracleMessage.Checked.Status status) {
    return new OracleMessage.Checked(
        1, status, null, List.of(), Map.of(), List.of(), false, List.of(), null, null, null);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'type':'failed','id':1,'reason':'whim','message':'x'}",
        "{'type':'failed','id':1,'reason':0,'message':'x'}",
        "{'type':'failed','id':1,'message':'x'}",
        "{'type':'exited','runner':1,'reason':'boredom'}",
        "{'type':'exited','runner':1,'reason':'EXIT'}",
        "{'type':'exited','runner':1}",
        "{'type':'checked','id':1,'status':'splendid','mismatches':[],'metrics':{},'flags':[]}",
        "{'type':'checked','id':1,'mismatches':[],'metrics':{},'flags':[]}",
        "{'type':'task_verified','id':1,'seconds':0,'controls':[{'name':'x','kind':'odd','ok':true}]}",
        "{'type':'task_verified','id':1,'seconds':0,'controls':[{'name':'x','ok':true}]}",
      })
  void unknownEnumOfATrustedProcessIsUnreadable(String json) {
    assertThatThrownBy(() -> parse(json)).isInstanceOf(Frames.Unreadable.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"'runtime'", "'of my own'", "''", "'EXIT'"})
  void unknownKindOfARunnerIsARuntimeFailure(String kind) throws Exception {
    assertThat(raised(kind)).isEqualTo(RunnerMessage.Raised.Kind.RUNTIME);
  }

  @Test
  void kindThatIsNotTextIsUnreadable() throws Exception {
    assertThat(raised("'no_entry'")).isEqualTo(RunnerMessage.Raised.Kind.NO_ENTRY);
    for (String none : List.of("null", "3", "[]", "{}")) {
      assertThatThrownBy(() -> raised(none)).isInstanceOf(Frames.Unreadable.class);
    }
  }
}

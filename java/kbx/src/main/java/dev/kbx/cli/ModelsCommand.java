package dev.kbx.cli;

import dev.kbx.document.Document;
import dev.kbx.document.Section;
import dev.kbx.document.TerminalRenderer;
import dev.kbx.llm.ChatModel;
import dev.kbx.llm.ChatReply;
import dev.kbx.llm.ChatRequest;
import dev.kbx.llm.ChatRequest.Message;
import dev.kbx.llm.ChatRequest.Parameters;
import dev.kbx.llm.ModelCatalog;
import dev.kbx.llm.ModelFailure;
import java.nio.file.Files;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code kbx models}: the language models that methods can ask. */
@Command(
    name = "models",
    description = "Show configured language models: keys, limits, prices; or ask one.",
    mixinStandardHelpOptions = true)
final class ModelsCommand implements Callable<Integer> {
  /** Some models refuse to say less. */
  private static final int FEW_TOKENS = 16;

  @Mixin private Options.Models models = new Options.Models();

  @ArgGroup private Instead instead = new Instead();

  /** What is shown in place of the models. */
  static final class Instead {
    @Option(
        names = "--check",
        paramLabel = "MODEL",
        description = "Send one short request to this model, once. May cost a few tokens.")
    private @Nullable String check;

    @Option(names = "--prices", description = "Show the bundled list prices.")
    private boolean prices;
  }

  @Mixin private Options.JsonFlag json = new Options.JsonFlag();

  @Override
  public Integer call() throws ModelFailure, InterruptedException {
    ModelCatalog catalog = models.catalog();
    if (instead.check != null) check(catalog, instead.check);
    else if (instead.prices) prices(catalog);
    else list(catalog);
    return ExitCode.OK;
  }

  private void list(ModelCatalog catalog) {
    if (json.isAsked()) {
      Options.JsonFlag.print(catalog.list());
      return;
    }
    boolean found = Files.exists(models.file());
    System.out.println(
        found
            ? "Configuration: " + models.file()
            : "No configuration: models.toml is neither here nor in ~/.config/kbx.");
    System.out.print(whole(ModelText.models(catalog.list())));
  }

  private void prices(ModelCatalog catalog) {
    if (json.isAsked()) Options.JsonFlag.print(catalog.prices());
    else System.out.print(whole(ModelText.prices(catalog.prices())));
  }

  /** Never cut, so that names can be copied. */
  private static String whole(Section section) {
    return new TerminalRenderer(Integer.MAX_VALUE).render(Document.of(section));
  }

  private void check(ModelCatalog catalog, String name) throws ModelFailure, InterruptedException {
    Parameters few = new Parameters(null, null, FEW_TOKENS, null, null);
    Message message = new Message(Message.Role.USER, "Say: yes");
    try (ChatModel model = catalog.openOnce(name)) {
      ChatReply reply = model.ask(new ChatRequest(name, few, List.of(message), 0));
      if (json.isAsked())
        Options.JsonFlag.print(Map.of("model", name, "answers", true, "reply", reply));
      else System.out.println(ModelText.answered(name, reply, catalog.price(name)));
    } catch (ModelFailure e) {
      if (json.isAsked())
        Options.JsonFlag.print(Map.of("model", name, "answers", false, "failure", fields(e)));
      throw e;
    }
  }

  private static Map<String, Object> fields(ModelFailure failure) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("kind", failure.kind());
    fields.put("message", String.valueOf(failure.getMessage()));
    fields.put("fatal", failure.fatal());
    fields.put("attempts", failure.attempts());
    fields.put("seconds", failure.seconds());
    if (failure.charged() != null) fields.put("usage", failure.charged());
    return fields;
  }
}

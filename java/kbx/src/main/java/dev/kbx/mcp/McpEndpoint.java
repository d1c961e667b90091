package dev.kbx.mcp;

import dev.kbx.app.Home;
import dev.kbx.error.InputException;
import dev.kbx.error.KbxException;
import dev.kbx.judge.JudgingDevice;
import dev.kbx.mcp.Tool.Answer;
import dev.kbx.verdict.Json;
import io.modelcontextprotocol.common.McpTransportContext;
import io.modelcontextprotocol.json.McpJsonMapper;
import io.modelcontextprotocol.json.jackson3.JacksonMcpJsonMapper;
import io.modelcontextprotocol.json.schema.JsonSchemaValidator;
import io.modelcontextprotocol.server.McpServer;
import io.modelcontextprotocol.server.McpStatelessServerFeatures.SyncResourceSpecification;
import io.modelcontextprotocol.server.McpStatelessServerFeatures.SyncResourceTemplateSpecification;
import io.modelcontextprotocol.server.McpStatelessServerFeatures.SyncToolSpecification;
import io.modelcontextprotocol.server.McpStatelessServerHandler;
import io.modelcontextprotocol.spec.McpError;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.CallToolRequest;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.ErrorCodes;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCMessage;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCNotification;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCRequest;
import io.modelcontextprotocol.spec.McpSchema.ReadResourceRequest;
import io.modelcontextprotocol.spec.McpSchema.ReadResourceResult;
import io.modelcontextprotocol.spec.McpSchema.Resource;
import io.modelcontextprotocol.spec.McpSchema.ResourceTemplate;
import io.modelcontextprotocol.spec.McpSchema.ServerCapabilities;
import io.modelcontextprotocol.spec.McpSchema.TextResourceContents;
import io.modelcontextprotocol.spec.McpStatelessServerTransport;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Answers messages of the Model Context Protocol by the official SDK, each by itself: nothing is
 * kept of a client, so that a server may end and start between two messages. Safe for several
 * threads.
 */
public final class McpEndpoint {
  private static final System.Logger LOG = System.getLogger("dev.kbx.mcp");

  private static final String INSTRUCTIONS =
      """
      kbx judges GPU kernels against PyTorch references. Read a task with `prompt`, write the kernel, \
      look for mistakes with `check`, then `judge` it: the answer says what is wrong first. Mend that \
      and judge again. `explain` and `profile` say more of a verdict.\
      """;

  private static final String FAULT = "a fault of kbx; its log has more";
  private static final String BACKEND = "backend";
  private static final String NOTIFY = "notify";
  private static final String TASKS = "kbx://tasks/";
  private static final String DEVICES = "kbx://devices";

  private static final McpJsonMapper JSON = new JacksonMcpJsonMapper(JsonMapper.builder().build());

  private final Handler handler = new Handler();

  public McpEndpoint() {
    var _ =
        McpServer.sync(handler)
            .serverInfo("kbx", Home.version())
            .instructions(INSTRUCTIONS)
            .capabilities(ServerCapabilities.builder().tools(false).resources(false, false).build())
            .jsonMapper(JSON)
            // Tools check their arguments themselves, and say what is wrong in one line.
            .validateToolInputs(false)
            .jsonSchemaValidator((_, _) -> JsonSchemaValidator.ValidationResponse.asValid(null))
            .immediateExecution(true)
            .tools(
                Stream.of(TaskTools.ALL, JudgeTools.ALL, VerdictTools.ALL, List.of(BestKnown.TOOL))
                    .flatMap(List::stream)
                    .map(McpEndpoint::specified)
                    .toList())
            .resources(
                new SyncResourceSpecification(
                    Resource.builder(DEVICES, "devices")
                        .description("The devices that judge, and whether each does.")
                        .mimeType("application/json")
                        .build(),
                    McpEndpoint::devices))
            .resourceTemplates(
                new SyncResourceTemplateSpecification(
                    ResourceTemplate.builder(TASKS + "{suite}/{category}/{name}", "task")
                        .description("What a task asks for, as the tool prompt says it.")
                        .mimeType("text/markdown")
                        .build(),
                    McpEndpoint::statement))
            .build();
  }

  /** The protocol's versions, by date. */
  public List<String> versions() {
    return handler.protocolVersions();
  }

  /**
   * Answers one message.
   *
   * @param message a request or notification in JSON
   * @param notify receives notifications about the request while it is worked on, in JSON; null if
   *     they cannot be sent
   * @return the answer in JSON, in one line; empty if the message wants none
   * @throws InputException if it is no message
   */
  public Optional<String> answer(
      String message, ToolBackend backend, @Nullable Consumer<String> notify) {
    McpTransportContext context =
        McpTransportContext.create(
            notify == null ? Map.of(BACKEND, backend) : Map.of(BACKEND, backend, NOTIFY, notify));
    switch (read(message)) {
      case JSONRPCRequest request -> {
        return Optional.of(answer(request, context));
      }
      case JSONRPCNotification notification -> {
        var _ = handler.server().handleNotification(context, notification).block();
      }
      default -> {} // An answer: nothing was asked.
    }
    return Optional.empty();
  }

  private static JSONRPCMessage read(String message) {
    try {
      return McpSchema.deserializeJsonRpcMessage(JSON, message);
    } catch (IOException | JacksonException | IllegalArgumentException e) {
      throw new InputException("the message is no JSON-RPC", e);
    }
  }

  private String answer(JSONRPCRequest request, McpTransportContext context) {
    try {
      return JSON.writeValueAsString(
          handler
              .server()
              .handleRequest(context, request)
              .contextWrite(it -> it.put(McpTransportContext.KEY, context))
              .block());
    } catch (McpError e) {
      return error(request.id(), ErrorCodes.INVALID_REQUEST, String.valueOf(e.getMessage()));
    } catch (IOException | RuntimeException e) {
      LOG.log(System.Logger.Level.ERROR, request.method(), e);
      return error(request.id(), ErrorCodes.INTERNAL_ERROR, FAULT);
    }
  }

  /** The answer that a request got none. */
  static String error(@Nullable Object id, int code, String message) {
    ObjectNode body = Json.mapper().createObjectNode().put("jsonrpc", "2.0");
    body.set("id", Json.mapper().valueToTree(id));
    body.putObject("error").put("code", code).put("message", message);
    return body.toString();
  }

  private static SyncToolSpecification specified(Tool tool) {
    return new SyncToolSpecification(
        tool.listed(), (context, request) -> call(tool, context, request));
  }

  private static ToolBackend backend(McpTransportContext context) {
    return (ToolBackend) context.get(BACKEND);
  }

  private static CallToolResult call(
      Tool tool, McpTransportContext context, CallToolRequest request) {
    ToolBackend backend = backend(context);
    try (var _ = progress(context, request)) {
      backend.need(tool.scope());
      Answer answer = tool.action().call(backend, tool.arguments(request.arguments()));
      return CallToolResult.builder()
          .addTextContent(answer.text())
          .structuredContent(answer.object())
          .isError(false)
          .build();
    } catch (KbxException e) {
      return failed(backend.told(e));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return failed("interrupted; there is no verdict");
    } catch (RuntimeException e) {
      LOG.log(System.Logger.Level.ERROR, tool.name(), e);
      return failed(FAULT);
    }
  }

  private static CallToolResult failed(String line) {
    return CallToolResult.builder().addTextContent(line).isError(true).build();
  }

  /** Tells a client that asks for it every second that a call goes on. */
  private static Progress progress(McpTransportContext context, CallToolRequest request) {
    Object token = request.meta() == null ? null : request.meta().get("progressToken");
    @SuppressWarnings("unchecked")
    Consumer<String> notify = (Consumer<String>) context.get(NOTIFY);
    return token == null || notify == null
        ? Progress.UNTOLD
        : Progress.of(request.name(), token, notify);
  }

  private static ReadResourceResult statement(
      McpTransportContext context, ReadResourceRequest request) {
    return read(
        context,
        request,
        "text/markdown",
        backend -> TaskTools.statement(backend, request.uri().substring(TASKS.length())));
  }

  private static ReadResourceResult devices(
      McpTransportContext context, ReadResourceRequest request) {
    return read(
        context,
        request,
        "application/json",
        backend -> {
          ArrayNode devices = Json.mapper().createArrayNode();
          for (JudgingDevice each : backend.devices()) devices.add(each.json());
          return devices.toString();
        });
  }

  /** The text of a resource. */
  private interface Text {
    String of(ToolBackend backend) throws InterruptedException;
  }

  private static ReadResourceResult read(
      McpTransportContext context, ReadResourceRequest request, String type, Text text) {
    ToolBackend backend = backend(context);
    try {
      backend.need(ToolBackend.Scope.READ);
      return ReadResourceResult.builder(
              List.of(
                  TextResourceContents.builder(request.uri(), text.of(backend))
                      .mimeType(type)
                      .build()))
          .build();
    } catch (KbxException e) {
      throw McpError.builder(ErrorCodes.RESOURCE_NOT_FOUND).message(backend.told(e)).build();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw McpError.builder(ErrorCodes.INTERNAL_ERROR).message("interrupted").build();
    }
  }

  /** Where the SDK puts what answers requests; messages come by {@link #answer}. */
  private static final class Handler implements McpStatelessServerTransport {
    private @Nullable McpStatelessServerHandler server;

    @Override
    public void setMcpHandler(McpStatelessServerHandler mcpHandler) {
      server = mcpHandler;
    }

    McpStatelessServerHandler server() {
      if (server == null) throw new IllegalStateException("the SDK has set no handler");
      return server;
    }

    @Override
    public Mono<Void> closeGracefully() {
      return Mono.empty();
    }
  }
}

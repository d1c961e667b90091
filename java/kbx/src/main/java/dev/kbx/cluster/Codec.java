package dev.kbx.cluster;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.kbx.check.RuleInfo;
import dev.kbx.check.Rules;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ValueDeserializer;
import tools.jackson.databind.ValueSerializer;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;

/** Messages as JSON, in the format of the worker protocol. */
final class Codec {
  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .changeDefaultPropertyInclusion(it -> it.withValueInclusion(JsonInclude.Include.NON_NULL))
          .disable(DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
          .addModule(
              new SimpleModule()
                  .addSerializer(Rules.class, new RulesWriter())
                  .addDeserializer(Rules.class, new RulesReader()))
          .build();

  private Codec() {}

  static byte[] bytes(BridgeMessage message) {
    return MAPPER.writerFor(BridgeMessage.class).writeValueAsBytes(message);
  }

  static byte[] bytes(NodeMessage message) {
    return MAPPER.writerFor(NodeMessage.class).writeValueAsBytes(message);
  }

  /** A JSON array. */
  static String text(List<String> words) {
    return MAPPER.writeValueAsString(words);
  }

  /** Reads a message of the bridge; throws a JacksonException if it is none. */
  static BridgeMessage ofBridge(byte[] payload) {
    return MAPPER.readValue(payload, BridgeMessage.class);
  }

  /** Reads a message between driver and node; throws a JacksonException if it is none. */
  static NodeMessage ofNode(byte[] payload) {
    return MAPPER.readValue(payload, NodeMessage.class);
  }

  /** Rules travel as the ids of those that are on. */
  private static final class RulesWriter extends ValueSerializer<Rules> {
    @Override
    public void serialize(Rules rules, JsonGenerator json, SerializationContext context) {
      context.writeValue(json, rules.infos().stream().map(RuleInfo::id).toList());
    }
  }

  private static final class RulesReader extends ValueDeserializer<Rules> {
    @Override
    public Rules deserialize(JsonParser json, DeserializationContext context) {
      Set<String> on = new HashSet<>(Arrays.asList(json.readValueAs(String[].class)));
      Rules all = Rules.all();
      List<String> off =
          all.infos().stream().map(RuleInfo::id).filter(id -> !on.contains(id)).toList();
      return all.without(off);
    }
  }
}

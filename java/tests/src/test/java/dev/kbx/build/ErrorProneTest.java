package dev.kbx.build;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Error Prone and NullAway find nothing in any Java file. Their warnings are errors.
 *
 * <p>A test of {@code soak} rather than a part of the build: the compiler takes ten times as long
 * with them, on one core. Sources that have passed are not looked at again.
 */
@Tag("soak-only")
class ErrorProneTest {
  private static final List<String> CHECKS =
      List.of(
          "-XepDisableWarningsInGeneratedCode",
          "-Xep:NullAway:ERROR",
          "-XepOpt:NullAway:OnlyNullMarked=true",
          "-XepOpt:NullAway:JSpecifyMode=true",
          "-Xep:StringConcatToTextBlock:OFF");

  private static final List<String> EXPORTED =
      List.of("api", "file", "main", "model", "parser", "processing", "tree", "util");

  private static final List<String> OPENED = List.of("code", "comp");

  @TempDir private Path folder;

  @Test
  void errorProneAndNullAwayFindNothing() throws Exception {
    List<Path> sources = JavaSources.all();
    List<String> command = command();
    Checked checked = Checked.of("error-prone", String.join(" ", command));
    String content = JavaSources.content(sources);
    if (checked.has(content)) return;
    Path list = folder.resolve("sources");
    Files.write(list, sources.stream().map(Path::toString).toList());
    Path said = folder.resolve("said");
    List<String> arguments = new ArrayList<>(command);
    arguments.addAll(List.of("-d", folder.resolve("classes").toString(), "@" + list));
    ProcessBuilder compiler = new ProcessBuilder(arguments);
    Process process = compiler.redirectErrorStream(true).redirectOutput(said.toFile()).start();
    try {
      int exit = process.waitFor();
      assertThat(exit).as(() -> read(said)).isZero();
    } finally {
      process.destroyForcibly();
    }
    checked.add(content);
    checked.save();
  }

  private static List<String> command() {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "javac").toString());
    // A heap in which nothing is collected for want of room: a fifth of the time.
    command.addAll(List.of("-J-XX:+UseSerialGC", "-J-XX:TieredStopAtLevel=1"));
    command.add("-J-XX:ReservedCodeCacheSize=128m");
    command.addAll(List.of("-J-Xms1g", "-J-Xmn700m", "-J-XX:MetaspaceSize=128m"));
    EXPORTED.forEach(name -> command.add("-J--add-exports=" + ofTheCompiler(name)));
    OPENED.forEach(name -> command.add("-J--add-opens=" + ofTheCompiler(name)));
    String classPath = System.getProperty("java.class.path");
    command.addAll(List.of("--release", "25", "-proc:none", "-implicit:none", "-Werror"));
    command.addAll(List.of("-cp", classPath, "-processorpath", classPath));
    // All classes are attributed and none is written.
    command.addAll(List.of("-XDcompilePolicy=simple", "--should-stop=ifError=FLOW"));
    command.add("--should-stop=ifNoError=FLOW");
    command.add("-Xplugin:ErrorProne " + String.join(" ", CHECKS));
    return command;
  }

  private static String ofTheCompiler(String name) {
    return "jdk.compiler/com.sun.tools.javac." + name + "=ALL-UNNAMED";
  }

  private static String read(Path file) {
    try (Stream<String> lines = Files.lines(file, StandardCharsets.UTF_8)) {
      return String.join("\n", lines.toList());
    } catch (IOException e) {
      return e.toString();
    }
  }
}

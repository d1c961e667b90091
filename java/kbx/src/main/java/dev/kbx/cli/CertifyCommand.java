package dev.kbx.cli;

import dev.kbx.app.CertificateReplay;
import dev.kbx.app.Home;
import dev.kbx.app.Reason;
import dev.kbx.app.ResultsFolder;
import dev.kbx.app.RunCertificate;
import dev.kbx.certify.CertificateCheck;
import dev.kbx.certify.CertificateEntry;
import dev.kbx.certify.CertificateHeader;
import dev.kbx.certify.SigningKey;
import dev.kbx.document.Counted;
import dev.kbx.error.InputException;
import dev.kbx.store.RunStore;
import dev.kbx.verdict.RunInfo;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code kbx certify RUN}: a run in one signed file, and its check. */
@Command(
    name = "certify",
    description = "Sign a run so that anybody can check its figures; --check checks a file.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  kbx certify --output results.kbx",
      "  kbx certify --check results.kbx --replay 5",
      "",
      "The file has every verdict with its source, the fingerprints of tasks and",
      "judge, the commitment to the seeds, devices, clocks, and the rounds of each",
      "timed size. --check FILE tells whether it is as it was signed, and computes",
      "all figures again from the rounds. --replay N also judges N random candidates",
      "of it here. Exit code 1 if anything in it is wrong, or a replayed verdict",
      "differs."
    })
final class CertifyCommand implements Callable<Integer> {
  private static final String ENDING = ".kbx";
  private static final String FILE = "certificate" + ENDING;

  @Mixin private Options.Results results = new Options.Results();

  @Parameters(
      paramLabel = "RUN",
      arity = "0..1",
      description = "Id of the run. Default: the newest complete one in --out.")
  private @Nullable String run;

  @HelpSection.In(HelpSection.SIGNING)
  @Option(
      names = "--key",
      paramLabel = "FILE",
      description =
          "Ed25519 key to sign with, PEM ('openssl genpkey -algorithm ed25519'). Default: this"
              + " installation's, made at first use.")
  private @Nullable Path key;

  @HelpSection.In(HelpSection.SIGNING)
  @Option(
      names = "--output",
      paramLabel = "FILE",
      description = "The certificate. Default: " + FILE + " in the run's folder.")
  private @Nullable Path output;

  @HelpSection.In(HelpSection.SIGNING)
  @Option(
      names = "--no-sources",
      description = "Leave the sources out; then nobody else can replay a candidate.")
  private boolean noSources;

  @HelpSection.In(HelpSection.CHECKING)
  @Option(names = "--check", paramLabel = "FILE", description = "Check this certificate.")
  private @Nullable Path check;

  @HelpSection.In(HelpSection.CHECKING)
  @Option(
      names = "--signer",
      paramLabel = "NAME",
      description = "--check: it has to be signed by this one, ed25519:...")
  private @Nullable String signer;

  @HelpSection.In(HelpSection.CHECKING)
  @Option(
      names = "--replay",
      paramLabel = "N",
      converter = Values.Count.class,
      description = "--check: judge so many random candidates of it here.")
  private @Nullable Integer replay;

  @HelpSection.In(HelpSection.CHECKING)
  @Option(
      names = "--suite",
      paramLabel = "DIR",
      description =
          "--replay: folder of the certified run's suite, if that is none of kbx's own. Its code"
              + " runs in a sandbox, which can read all of the folder.")
  private @Nullable Path suite;

  @Mixin private Options.JsonFlag json = new Options.JsonFlag();

  @Mixin private Options.Workers workers = new Options.Workers();

  @Override
  public Integer call() throws Exception {
    if (check != null) return check(check);
    if (signer != null || replay != null || suite != null) {
      throw new InputException("--signer, --replay, --suite: are for --check FILE");
    }
    return certify();
  }

  private int certify() {
    SigningKey signing = signingKey();
    ResultsFolder folder = results.folder();
    try (RunStore store = folder.open()) {
      RunInfo chosen = RunCertificate.certifiable(folder, store, run);
      Path named = output;
      Path file =
          named == null ? file(chosen) : ResultsFolder.file("--output " + named, named, ENDING);
      CertificateHeader header =
          RunCertificate.write(Home.here(), store, chosen, file, signing, !noSources);
      print(chosen, header, file, signing);
      return ExitCode.OK;
    }
  }

  private Path file(RunInfo chosen) {
    Path folder = results.folder().out().resolve("runs").resolve(chosen.id());
    return ResultsFolder.writable("--output", folder).resolve(FILE);
  }

  private SigningKey signingKey() {
    Path given = key;
    if (given == null) return Home.here().signingKey();
    try {
      return SigningKey.of(Files.readString(given));
    } catch (NoSuchFileException e) {
      throw new InputException("--key %s: does not exist".formatted(given));
    } catch (IOException e) {
      throw new InputException("--key %s: cannot be read: %s".formatted(given, Reason.of(e)), e);
    } catch (IllegalArgumentException e) {
      throw new InputException(
          "--key %s: is no Ed25519 private key in PEM; 'openssl genpkey -algorithm ed25519' makes one"
              .formatted(given));
    }
  }

  private void print(RunInfo chosen, CertificateHeader header, Path file, SigningKey signing) {
    if (json.isAsked()) {
      Map<String, Object> document = new LinkedHashMap<>();
      document.put("kind", "certificate");
      document.put("file", file.toString());
      document.put("signer", signing.signer());
      document.put("header", header);
      Options.JsonFlag.print(document);
      return;
    }
    System.out.printf(
        "run %s: %s, %d correct, signed by %s%n",
        chosen.id(), Counted.of(header.verdicts(), "verdict"), header.correct(), signing.signer());
    System.out.println(
        header.timed() == 0
            ? "nothing was timed"
            : "timed: %d, of which %d have the rounds that their figures follow from"
                .formatted(header.timed(), header.withRounds()));
    System.out.println("certificate: " + file);
  }

  private int check(Path file) throws Exception {
    if (key != null || output != null || noSources || run != null) {
      throw new InputException("--check: needs neither a RUN, --key, --output nor --no-sources");
    }
    if (signer != null && !SigningKey.isSigner(signer)) {
      throw new InputException(
          "--signer %s: a signer is named ed25519: and 32 hexadecimal digits, as 'kbx certify' prints"
              .formatted(signer));
    }
    if (suite != null && replay == null) throw new InputException("--suite: is for --replay N");
    CertificateSample sample = new CertificateSample(replay == null ? 0 : replay);
    CertificateCheck checked = read(file, sample);
    CertificateText text = new CertificateText(checked, signer);
    CertificateHeader header = checked.header();
    CertificateReplay.Result replayed =
        replay == null || header == null || !text.holds()
            ? null
            : replayed(header, sample.chosen());
    boolean good = text.holds() && (replayed == null || replayed.disagreeing().isEmpty());
    if (json.isAsked()) {
      Map<String, Object> document = new LinkedHashMap<>();
      document.put("kind", "certificate_check");
      document.put("holds", text.holds());
      document.put("check", checked);
      if (replayed != null) document.put("replay", replayed);
      Options.JsonFlag.print(document);
    } else {
      text.lines(file).forEach(System.out::println);
      if (replayed != null) CertificateText.replayed(replayed).forEach(System.out::println);
    }
    return good ? ExitCode.OK : ExitCode.USAGE;
  }

  private CertificateReplay.Result replayed(
      CertificateHeader header, List<CertificateEntry> entries) throws InterruptedException {
    workers.check(header.run().stages());
    try (Interrupts _ = new Interrupts("interrupted; the certificate was read, nothing is kept")) {
      return CertificateReplay.of(header, entries, suite, workers.settings());
    }
  }

  private static CertificateCheck read(Path file, CertificateSample sample) {
    try {
      return CertificateCheck.of(file, sample::add);
    } catch (NoSuchFileException e) {
      throw new InputException("--check %s: does not exist".formatted(file));
    } catch (CertificateCheck.NoCertificate e) {
      throw new InputException(
          "--check %s: is not a certificate of kbx; 'kbx certify' makes one".formatted(file));
    } catch (IOException e) {
      throw new InputException("--check %s: cannot be read: %s".formatted(file, Reason.of(e)), e);
    }
  }

  /** Random candidates of a certificate, each with the same chance; only these are in memory. */
  private static final class CertificateSample {
    private final int wanted;
    private final SecureRandom random = new SecureRandom();
    private final List<CertificateEntry> chosen = new ArrayList<>();
    private int seen;

    CertificateSample(int wanted) {
      this.wanted = wanted;
    }

    void add(CertificateEntry entry) {
      seen++;
      if (chosen.size() < wanted) {
        chosen.add(entry);
      } else if (wanted > 0) {
        int place = random.nextInt(seen);
        if (place < wanted) chosen.set(place, entry);
      }
    }

    List<CertificateEntry> chosen() {
      return List.copyOf(chosen);
    }
  }
}

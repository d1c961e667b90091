package dev.kbx.check;

import dev.kbx.program.Call;
import java.util.Set;

/** Finds network access. */
final class Network implements Rule {
  private static final Set<String> SOCKETS =
      Set.of(
          "socket.socket",
          "socket.create_connection",
          "socket.create_server",
          "socket.gethostbyname",
          "socket.getaddrinfo",
          "urllib.request.urlopen",
          "urllib.request.urlretrieve",
          "asyncio.open_connection",
          "asyncio.start_server",
          "torch.hub.load",
          "torch.hub.load_state_dict_from_url",
          "torch.hub.download_url_to_file");

  private static final String[] CLIENTS = {
    "requests",
    "httpx",
    "aiohttp",
    "http.client",
    "http.server",
    "ftplib",
    "smtplib",
    "telnetlib",
    "socketserver",
    "xmlrpc",
    "websockets",
    "paramiko",
    "huggingface_hub",
    "urllib3"
  };

  @Override
  public RuleInfo info() {
    return new RuleInfo(
        "network",
        Severity.REJECT,
        "network access",
        "A candidate could fetch an answer, or send the inputs it is judged with. There is"
            + " no network while it runs.",
        "compute from the arguments alone",
        "import socket\n" + "\n" + "link = socket.create_connection(('192.0.2.1', 80))\n");
  }

  @Override
  public void check(RuleContext context, Report report) {
    for (Call call : context.reachable().calls(Network::remote)) {
      call.target(Network::remote)
          .ifPresent(path -> report.found(call.place(), path + " talks to the network"));
    }
  }

  private static boolean remote(String path) {
    return SOCKETS.contains(path) || ReachableCode.below(path, CLIENTS);
  }
}

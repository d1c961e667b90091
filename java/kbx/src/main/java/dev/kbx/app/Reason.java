package dev.kbx.app;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.List;

/** Words for an {@link IOException}, whose message is often only the path. */
public final class Reason {
  private Reason() {}

  /** What the system says of trouble that no other options avoid. */
  private static final List<String> MACHINE =
      List.of(
          "No space left on device",
          "Disk quota exceeded",
          "Input/output error",
          "Too many open files");

  /** Whether it comes of a full or broken disk, say, and not of what the user asked for. */
  public static boolean isOfTheMachine(Throwable e) {
    for (Throwable each = e; each != null; each = each.getCause()) {
      if (!(each instanceof IOException)) continue;
      String said = String.valueOf(each.getMessage());
      if (MACHINE.stream().anyMatch(said::contains)) return true;
    }
    return false;
  }

  public static String of(IOException e) {
    if (e instanceof CharacterCodingException) return "it is not UTF-8";
    String known =
        switch (e) {
          case NoSuchFileException _ -> "not there";
          case AccessDeniedException _ -> "closed to this user";
          case FileAlreadyExistsException _ -> "there already";
          case DirectoryNotEmptyException _ -> "not empty";
          case NotDirectoryException _ -> "no folder";
          default -> null;
        };
    if (known != null) return ((FileSystemException) e).getFile() + " is " + known;
    if (e instanceof FileSystemException f && f.getReason() != null) {
      return f.getFile() == null ? f.getReason() : f.getFile() + ": " + f.getReason();
    }
    String message = e.getMessage();
    return message == null || message.isBlank() ? "reading or writing failed" : message;
  }
}

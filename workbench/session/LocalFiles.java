package workbench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.attribute.PosixFilePermissions;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;

/** Hadoop's local files, without a checksum file beside each, and without a chmod forked for each. */
public class LocalFiles extends LocalFileSystem {
  public LocalFiles() {
    super(new Plain());
    setWriteChecksum(false);
    setVerifyChecksum(false);
  }

  public static class Plain extends RawLocalFileSystem {
    public void setPermission(Path path, FsPermission permission) throws IOException {
      try {
        String bits = permission.toString().substring(0, 9).replace('t', 'x').replace('T', '-');
        Files.setPosixFilePermissions(pathToFile(path).toPath(), PosixFilePermissions.fromString(bits));
      } catch (UnsupportedOperationException error) {
        // Windows has no such permissions
      }
    }
  }
}

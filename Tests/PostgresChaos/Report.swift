import Foundation

/// Prints a line immediately, also into a pipe.
func report(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

package import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Reads the next bytes of a pipe and waits for them; the result is empty at the end of the pipe. Signals may interrupt
/// the wait, while Foundation's `availableData` would end the program.
package func nextBytes(of file: FileHandle) -> Data {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = read(file.fileDescriptor, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        return Data(buffer.prefix(max(count, 0)))
    }
}

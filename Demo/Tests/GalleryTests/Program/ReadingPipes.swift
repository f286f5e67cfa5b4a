import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The next bytes of a pipe, waiting for them; empty at its end. A signal that comes meanwhile does not matter, while
/// `availableData` of Foundation ends the program then.
func nextBytes(of file: FileHandle) -> Data {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = read(file.fileDescriptor, &buffer, buffer.count)
        if count < 0, errno == EINTR { continue }
        return Data(buffer.prefix(max(count, 0)))
    }
}

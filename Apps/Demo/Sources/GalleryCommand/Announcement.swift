import Foundation

/// Prints the addresses of the galleries when all of them listen.
final class Announcement: @unchecked Sendable {
    // @unchecked because every access to `ports` holds `lock`.
    private let lock = NSLock()
    private var ports: [Int: Int] = [:]
    private let devices: [String]
    private let wanted: Int

    /// Creates an announcement.
    ///
    /// - Parameters:
    ///   - devices: The names of the devices, in the order of their ports; none if there is only one gallery.
    ///   - wanted: The preferred port of the first one, 0 for any.
    init(of devices: [String], wanted: Int) {
        (self.devices, self.wanted) = (devices, wanted)
    }

    /// Notes that a gallery listens on a port, and prints the addresses if it is the last one.
    func add(_ port: Int, of number: Int) {
        let ports = lock.withLock {
            self.ports[number] = port
            return self.ports
        }
        guard ports.count == max(devices.count, 1) else { return }
        // Without buffering, so that it also appears in a pipe immediately.
        FileHandle.standardOutput.write(Data(text(ports.sorted { $0.key < $1.key }.map(\.value)).utf8))
    }

    private func text(_ ports: [Int]) -> String {
        if devices.isEmpty {
            let port = ports[0]
            let change =
                wanted != 0 && wanted != port ? "Port \(wanted) is taken, so the gallery uses another one.\n" : ""
            return change + "The gallery is at http://127.0.0.1:\(port)/ — press Ctrl-C to stop it.\n"
        }
        let lines = zip(devices, ports).map { "The gallery of the \($0) is at http://127.0.0.1:\($1)/" }
        return lines.joined(separator: "\n") + " — press Ctrl-C to stop them.\n"
    }
}

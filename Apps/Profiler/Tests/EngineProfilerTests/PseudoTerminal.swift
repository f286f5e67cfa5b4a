import Foundation

/// A terminal for a program; the test reads its other end.
final class PseudoTerminal: @unchecked Sendable {
    // @unchecked because only one task uses it.
    private let controller: Int32
    private let device: Int32
    /// The output of the program so far.
    private(set) var text = ""
    private var bytes: [UInt8] = []

    /// Opens a terminal.
    init(columns: UInt16) throws {
        var controller: Int32 = -1
        var device: Int32 = -1
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        guard openpty(&controller, &device, nil, nil, &size) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
        _ = fcntl(controller, F_SETFD, FD_CLOEXEC)
        self.controller = controller
        self.device = device
    }

    deinit { close(controller) }

    /// Starts a program with the terminal as its standard output and error.
    func start(_ process: Process) throws {
        let handle = FileHandle(fileDescriptor: device, closeOnDealloc: false)
        process.standardOutput = handle
        process.standardError = handle
        try process.start()
        // The end of the program is only visible once this descriptor is closed.
        close(device)
    }

    /// Reads until the program has written a text.
    ///
    /// - Parameter wanted: The text; `nil` to read until the program exits.
    /// - Returns: Whether the program has written the text.
    func read(until wanted: String? = nil) async -> Bool {
        await blocking { self.readNow(until: wanted) }
    }

    private func readNow(until wanted: String?) -> Bool {
        while true {
            if let wanted, text.contains(wanted) { return true }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = Foundation.read(controller, &buffer, buffer.count)
            // Linux reports the end as EIO.
            guard count > 0 else { return false }
            bytes += buffer[..<count]
            text = String(decoding: bytes, as: UTF8.self)
        }
    }
}

import Foundation

extension Process {
    /// Runs it, one at a time: of two that Foundation starts at once, one can inherit what tells that the other has ended, and
    /// that other then seems to run as long as it does.
    func start() throws {
        try Self.starting.withLock { try run() }
    }

    /// Held by whoever starts a program, in whatever way.
    static let starting = NSLock()
}

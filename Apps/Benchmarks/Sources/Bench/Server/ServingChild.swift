import ArgumentParser
import BenchHarness
import Foundation

/// A child process that serves the items of a database, and reports what it takes.
final class ServingChild {
    /// A server.
    enum Kind: String, ExpressibleByArgument {
        /// `StorageServer` over SQLite, with tokens.
        case storage
        /// A server of Hummingbird alone, which answers the same bytes from memory.
        case bare
    }

    /// The port on which the child listens.
    let port: Int
    private let child: LineChild

    /// Starts this program as a child, and waits until it listens.
    init(_ kind: Kind, _ folder: URL) throws {
        child = try LineChild(["--child-serves", folder.path, "--child-server", kind.rawValue], firstLine: "serving")
        guard let port = Int(try child.nextLine()) else { throw VerificationFailure("the child printed no port") }
        self.port = port
    }

    /// The address of the server.
    func url() throws -> URL {
        guard let url = URL(string: "http://127.0.0.1:\(port)") else {
            throw VerificationFailure("\(port) is no port")
        }
        return url
    }

    /// Creates a token for all items, or for those of an owner.
    func token(owner: String? = nil) throws -> String {
        try child.write("token \(owner ?? "")")
        return try child.nextLine()
    }

    /// The resident memory of the server.
    func memory() throws -> Int { try number("memory") }

    /// The processor time of the server so far.
    func processorTime() throws -> Duration { .nanoseconds(try number("processor")) }

    /// Lets the server write an item of an owner, and returns the time of its commit.
    func write(_ number: Int, owner: String) throws -> UInt64 {
        UInt64(try self.number("write \(number) \(owner)"))
    }

    private func number(_ command: String) throws -> Int {
        try child.write(command)
        let line = try child.nextLine()
        guard let number = Int(line) else { throw VerificationFailure("the child printed \(line)") }
        return number
    }

    /// Ends the child.
    func end() { child.end() }
}

import Bodega
import Foundation

/// The engines that can be given without a path.
enum BuiltInEngine: String, CaseIterable, Sendable {
    case sqlite
    case disk
    case memory
}

/// An engine to profile.
struct Subject: Sendable {

    /// The engine and its place.
    enum Kind: Sendable {
        /// An engine of this package in a temporary folder.
        case builtIn(BuiltInEngine)
        /// An engine of this package at the user's address.
        case address(StorageAddress)
        /// A custom engine of the calling program, in a temporary folder.
        case custom(ProfiledEngine)
    }

    /// The name in reports.
    var name: String
    /// The address that the user gave.
    var address: String
    /// The engine and its place.
    var kind: Kind

    /// Parses an argument of the command line.
    ///
    /// - Parameters:
    ///   - word: The name of an engine, or an address.
    ///   - engines: The custom engines of the calling program.
    /// - Throws: A ``ProfilerError`` with the valid names.
    init(_ word: String, engines: [ProfiledEngine]) throws {
        name = word
        address = word
        if let engine = engines.first(where: { $0.name == word }) {
            kind = .custom(engine)
        } else if let engine = BuiltInEngine(rawValue: word) {
            kind = .builtIn(engine)
        } else {
            do {
                let address = try StorageAddress(parsing: word)
                kind = address == .memory ? .builtIn(.memory) : .address(address)
                name = address == .memory ? "memory" : word
            } catch let error as StorageError {
                let names = engines.map(\.name) + BuiltInEngine.allCases.map(\.rawValue)
                throw ProfilerError("\(error.message) Or use an engine's name: \(names.joined(separator: ", ")).")
            }
        }
    }

    /// The place of the engine's items.
    ///
    /// - Parameter folder: An empty folder, for an engine without an address.
    func place(orIn folder: URL) -> Place {
        switch kind {
        case .builtIn(.sqlite): Place(.sqlite(folder.appendingPathComponent("items.sqlite3").path))
        case .builtIn(.disk): Place(.disk(folder.appendingPathComponent("items").path))
        case .builtIn(.memory): Place(.memory)
        case .address(let address): Place(address)
        case .custom(let engine): Place(engine, folder: folder.appendingPathComponent("items"))
        }
    }
}

import Bodega
import Foundation

/// The engines that can be named without a place.
enum BuiltInEngine: String, CaseIterable, Sendable {
    case sqlite
    case disk
    case memory
}

/// An engine to be profiled.
struct Subject: Sendable {

    /// Which engine it is and where.
    enum Kind: Sendable {
        /// One of this package, in a temporary folder.
        case builtIn(BuiltInEngine)
        /// One of this package, where the user wants it.
        case address(StorageAddress)
        /// One of the program that calls, in a temporary folder.
        case custom(ProfiledEngine)
    }

    /// What reports call it.
    var name: String
    /// Where it is, as the user wrote it.
    var address: String
    /// Which engine it is and where.
    var kind: Kind

    /// Understands a word of the command line.
    ///
    /// - Parameters:
    ///   - word: The name of an engine, or an address.
    ///   - engines: The engines that the program brings.
    /// - Throws: A ``ProfilerError`` that says what to write instead.
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
                throw ProfilerError("\(error.message) Or write an engine's name: \(names.joined(separator: ", ")).")
            }
        }
    }

    /// Where the engine keeps its items.
    ///
    /// - Parameter folder: An empty folder, for an engine that the user gave no place.
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

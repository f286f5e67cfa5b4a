import Bodega
import Foundation
import TestSupport

@testable import Boutique

/// A file for values in a temporary folder.
final class ValuePlace: Sendable {
    let folder = TemporaryFolder()
    let file: DefaultsFile
    let url: URL

    /// - Parameters:
    ///   - isWatched: Whether the file is watched for foreign changes.
    ///   - name: The name of the file in the folder.
    ///   - surroundings: The services of the system.
    init(
        isWatched: Bool = true, name: String = "suite.values",
        surroundings: DefaultsFile.Surroundings = DefaultsFile.Surroundings()
    ) {
        url = folder.file(name)
        file = DefaultsFile(url: url, isWatched: isWatched, surroundings: surroundings)
    }

    /// The file as another process has it.
    func other() -> DefaultsFile { DefaultsFile(url: url, isWatched: false) }

    func value<Item: StorableItem>(_ defaultValue: Item) -> StoredValue<Item> {
        value("value", defaultValue)
    }

    func value<Item: StorableItem>(_ key: String, _ defaultValue: Item) -> StoredValue<Item> {
        StoredValue(key: key, default: defaultValue, in: file)
    }

    /// The bytes under a key, as text.
    func text(_ key: String = "value") throws -> String? {
        try file.load(key).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Stores bytes under a key, like another writer.
    func put(_ text: String, _ key: String = "value") throws {
        try file.change(key) {
            try file.save(Data(text.utf8), key)
        } then: {
        }
    }
}

/// The arguments of the calls of a closure, in order.
final class Record<Element: Sendable>: Sendable {
    private let state = Locked<[Element]>([])

    var elements: [Element] { state.withLock { $0 } }

    func add(_ element: Element) {
        state.withLock { $0.append(element) }
    }
}

struct Preferences: Codable, Equatable {
    var hasHaptics = false
    var name = "plain"
}

enum Theme: String, Codable { case light, dark }

/// A value that JSON cannot represent if it is not finite.
struct Unencodable: Codable, Equatable {
    var number: Double
}

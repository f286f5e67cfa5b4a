import Bodega
import Foundation
import TestSupport

@testable import Boutique

/// A file for values in a folder of its own.
final class ValuePlace: Sendable {
    let folder = TemporaryFolder()
    let file: DefaultsFile
    var url: URL { folder.file("values.plist") }

    /// - Parameter isWatched: Whether changes by others are looked for when the system tells of one.
    init(isWatched: Bool = true) {
        file = DefaultsFile(url: folder.file("values.plist"), isWatched: isWatched)
    }

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

    /// Puts bytes under a key, as somebody else.
    func put(_ text: String, _ key: String = "value") throws {
        try file.change(key) {
            try file.save(Data(text.utf8), key)
        } then: {
        }
    }
}

/// What a closure was called with, in order.
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

/// What JSON cannot express.
struct Unencodable: Codable, Equatable {
    var number: Double
}

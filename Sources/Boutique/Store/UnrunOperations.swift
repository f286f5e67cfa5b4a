import Logging

/// A place in the source of a program.
struct CallLocation: Sendable, CustomStringConvertible {
    let fileID: StaticString
    let line: UInt

    var description: String { "\(fileID):\(line)" }
}

/// Reports chains of operations that were released before they were run, once for each place where such chains begin.
enum UnrunOperations {
    private static let places = FirstOccurrences<String>()

    static func report(_ place: CallLocation, itemType: Any.Type, to logger: Logger) {
        guard places.insert("\(place)") else { return }
        logger.error(
            "A chain of operations on a store has done nothing, because it was not run. End the chain with run().",
            metadata: ["items": "\(itemType)", "place": "\(place)"]
        )
    }
}

import Bodega
import Foundation
import TestSupport

/// Writes batches through wrappers, and prints the number of each when its call has returned.
///
/// Each writer overwrites keys of its own, adds an item with a new key, and removes an older one.
///
/// Arguments: kind of the engine, path of its folder, the first number, number of writers.
func writeThroughWrappers(_ arguments: [String]) async throws {
    guard let kind = WrappedEngine(rawValue: arguments[0]), let first = Int(arguments[2]),
        let writers = Int(arguments[3])
    else {
        fatalError("invalid arguments \(arguments)")
    }
    let engine = try kind.open(in: URL(fileURLWithPath: arguments[1])).engine
    try await withThrowingTaskGroup(of: Void.self) { group in
        for writer in 0..<writers {
            group.addTask {
                for number in first... {
                    let data = WrappedEngine.data(number)
                    var operations = WrappedEngine.keys(ofWriter: writer).map {
                        StorageOperation.write(key: $0, data: data)
                    }
                    operations.append(.write(key: CacheKey(verbatim: "new \(writer) \(number)"), data: data))
                    if number.isMultiple(of: 2) {
                        operations.append(.remove(key: CacheKey(verbatim: "new \(writer) \(number - 2)")))
                    }
                    try await engine.apply(operations)
                    say("\(writer) \(number)")
                }
            }
        }
        try await group.waitForAll()
    }
}

import Foundation

extension Array where Element: Sendable {

    /// Transforms the elements on all cores, in order.
    ///
    /// Few elements are transformed where the caller is, because tasks would cost more than they gain.
    ///
    /// - Parameters:
    ///   - smallestPart: How many elements are worth a task.
    ///   - transform: Hands over one result for each element of a part, in order.
    func concurrentMap<Result: Sendable>(
        smallestPart: Int = 256,
        _ transform: @escaping @Sendable (ArraySlice<Element>, (consuming Result) -> Void) -> Void
    ) async -> [Result] {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        if count < smallestPart * 2 || cores == 1 {
            var results: [Result] = []
            results.reserveCapacity(count)
            transform(self[...]) { results.append($0) }
            return results
        }
        // Several parts a core, so that none waits long for the others at the end.
        let part = Swift.max(smallestPart, count / (cores * 4) + 1)
        // Each task initialises a part of its own, so that the results need not be copied out of parts at the end.
        nonisolated(unsafe) let results = UnsafeMutablePointer<Result>.allocate(capacity: count)
        defer { results.deallocate() }
        await withTaskGroup(of: Void.self) { group in
            for start in stride(from: 0, to: count, by: part) {
                let end = Swift.min(start + part, count)
                group.addTask {
                    var next = start
                    transform(self[start..<end]) { result in
                        // In bounds, and nothing has been there: so many results a part has, and no other part has these.
                        precondition(next < end, "Each element has one result.")
                        (results + next).initialize(to: result)
                        next += 1
                    }
                    precondition(next == end, "Each element has one result.")
                }
            }
        }
        return Array<Result>(unsafeUninitializedCapacity: count) { buffer, initializedCount in
            buffer.baseAddress?.moveInitialize(from: results, count: count)
            initializedCount = count
        }
    }
}

import Foundation

extension Array where Element: Sendable {

    /// Transforms the elements on all cores, in order.
    ///
    /// Few elements are transformed where the caller is, because tasks would cost more than they gain.
    ///
    /// - Parameters:
    ///   - smallestPart: How many elements are worth a task.
    ///   - transform: Makes one result for each element of a part.
    func concurrentMap<Result: Sendable>(
        smallestPart: Int = 256,
        _ transform: @escaping @Sendable (ArraySlice<Element>) -> [Result]
    ) async -> [Result] {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        if count < smallestPart * 2 || cores == 1 { return transform(self[...]) }
        // Several parts a core, so that none waits long for the others at the end.
        let part = Swift.max(smallestPart, count / (cores * 4) + 1)
        // Each task initialises a part of its own, so that the results need not be copied out of parts at the end.
        nonisolated(unsafe) let results = UnsafeMutablePointer<Result>.allocate(capacity: count)
        defer { results.deallocate() }
        await withTaskGroup(of: Void.self) { group in
            for start in stride(from: 0, to: count, by: part) {
                let end = Swift.min(start + part, count)
                group.addTask {
                    let transformed = transform(self[start..<end])
                    precondition(transformed.count == end - start, "Each element has one result.")
                    for (index, result) in transformed.enumerated() {
                        (results + start + index).initialize(to: result)
                    }
                }
            }
        }
        return Array<Result>(unsafeUninitializedCapacity: count) { buffer, initializedCount in
            buffer.baseAddress?.moveInitialize(from: results, count: count)
            initializedCount = count
        }
    }
}

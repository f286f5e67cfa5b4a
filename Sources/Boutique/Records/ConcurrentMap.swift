import Foundation

extension Array where Element: Sendable {

    /// Transforms the elements on all cores, in order.
    ///
    /// Few elements are transformed where the caller is, because tasks would cost more than they gain.
    ///
    /// - Parameters:
    ///   - smallestPart: How many elements are worth a task.
    ///   - transform: What to do with each element, given its index.
    func concurrentMap<Result: Sendable>(
        smallestPart: Int = 256,
        _ transform: @escaping @Sendable (Int, Element) -> Result
    ) async -> [Result] {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        if count < smallestPart * 2 || cores == 1 { return indices.map { transform($0, self[$0]) } }
        // Several parts a core, so that none waits long for the others at the end.
        let part = Swift.max(smallestPart, count / (cores * 4) + 1)
        // Each task initialises a part of its own, so that the results need not be copied out of parts at the end.
        nonisolated(unsafe) let results = UnsafeMutablePointer<Result>.allocate(capacity: count)
        defer { results.deallocate() }
        await withTaskGroup(of: Void.self) { group in
            for start in stride(from: 0, to: count, by: part) {
                let end = Swift.min(start + part, count)
                group.addTask {
                    for index in start..<end { (results + index).initialize(to: transform(index, self[index])) }
                }
            }
        }
        return Array<Result>(unsafeUninitializedCapacity: count) { buffer, initializedCount in
            buffer.baseAddress?.moveInitialize(from: results, count: count)
            initializedCount = count
        }
    }
}

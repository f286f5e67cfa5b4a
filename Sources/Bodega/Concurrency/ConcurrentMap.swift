import Foundation

extension Array where Element: Sendable {

    /// Transforms the elements on all cores and keeps their order.
    ///
    /// Few elements are transformed by the caller, because tasks would cost more than they gain. Otherwise:
    ///
    /// 1. The elements are divided into parts, several per core, and each part is transformed by a task.
    /// 2. A task stores its results in its own part of a shared buffer, which needs no lock.
    /// 3. After the last task, the caller moves the results together into an array.
    ///
    /// - Parameters:
    ///   - smallestPart: Minimum number of elements of a task.
    ///   - transform: Passes on the results of a part's elements in order, at most one per element. They need not be
    ///     `Sendable`, because each is transferred from the task that created it, but must not share mutable state.
    /// - Returns: All results, in the order of their elements.
    package func concurrentCompactMap<Result>(
        smallestPart: Int = 256,
        _ transform: @escaping @Sendable (ArraySlice<Element>, (consuming Result) -> Void) -> Void
    ) async -> [Result] {
        // The number of cores is read only if needed, because on Linux that reads files.
        let cores = count < smallestPart * 2 ? 1 : ProcessInfo.processInfo.activeProcessorCount
        if cores == 1 {
            var results: [Result] = []
            results.reserveCapacity(count)
            transform(self[...]) { results.append($0) }
            return results
        }
        // Several parts per core, so that no core waits long for the others at the end.
        let part = Swift.max(smallestPart, count / (cores * 4) + 1)
        // Each task initializes its own part of the buffer, so that the results are moved only once.
        nonisolated(unsafe) let results = UnsafeMutablePointer<Result>.allocate(capacity: count)
        defer { results.deallocate() }
        let filled = await withTaskGroup(of: Range<Int>.self) { group in
            for start in stride(from: 0, to: count, by: part) {
                let end = Swift.min(start + part, count)
                group.addTask {
                    var next = start
                    transform(self[start..<end]) { result in
                        // In bounds and uninitialized: no other task uses this part of the buffer.
                        precondition(next < end, "An element has at most one result.")
                        (results + next).initialize(to: result)
                        next += 1
                    }
                    return start..<next
                }
            }
            var filled: [Range<Int>] = []
            for await range in group { filled.append(range) }
            return filled.sorted { $0.lowerBound < $1.lowerBound }
        }
        return Array<Result>(unsafeUninitializedCapacity: count) { buffer, initializedCount in
            for range in filled {
                // In bounds: the ranges have at most `count` elements in total, all of them initialized.
                buffer.baseAddress.map {
                    ($0 + initializedCount).moveInitialize(from: results + range.lowerBound, count: range.count)
                }
                initializedCount += range.count
            }
        }
    }
}

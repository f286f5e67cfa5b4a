import Foundation

extension Array where Element: Sendable {

    /// Transforms the elements on all cores, in order.
    ///
    /// Few elements are transformed where the caller is, because tasks would cost more than they gain.
    ///
    /// - Parameters:
    ///   - smallestPart: How many elements are worth a task.
    ///   - transform: Hands over the results of a part's elements, in order: at most one an element. They need not be
    ///     `Sendable`, as each is only handed on from the thread that made it: it must not share anything with others.
    /// - Returns: All results, in the order of their elements.
    package func concurrentCompactMap<Result>(
        smallestPart: Int = 256,
        _ transform: @escaping @Sendable (ArraySlice<Element>, (consuming Result) -> Void) -> Void
    ) async -> [Result] {
        // The system is asked only if it matters, because on Linux it reads files to find out.
        let cores = count < smallestPart * 2 ? 1 : ProcessInfo.processInfo.activeProcessorCount
        if cores == 1 {
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
        let filled = await withTaskGroup(of: Range<Int>.self) { group in
            for start in stride(from: 0, to: count, by: part) {
                let end = Swift.min(start + part, count)
                group.addTask {
                    var next = start
                    transform(self[start..<end]) { result in
                        // In bounds, and nothing has been there: no other part has these places.
                        precondition(next < end, "Each element has one result at most.")
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
                // In bounds: all ranges together have at most `count` places, and the results of each are initialised.
                buffer.baseAddress.map {
                    ($0 + initializedCount).moveInitialize(from: results + range.lowerBound, count: range.count)
                }
                initializedCount += range.count
            }
        }
    }
}

import Foundation

extension Array where Element: Sendable {

    /// Transforms the elements on all cores, in order.
    ///
    /// Few elements are transformed where the caller is, because tasks would cost more than they gain.
    ///
    /// - Parameters:
    ///   - smallestPart: How many elements are worth a task.
    ///   - transform: What to do with each element.
    func concurrentMap<Result: Sendable>(
        smallestPart: Int = 256,
        _ transform: @escaping @Sendable (Element) -> Result
    ) async -> [Result] {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        if count < smallestPart * 2 || cores == 1 { return map(transform) }
        // Several parts a core, so that none waits long for the others at the end.
        let part = Swift.max(smallestPart, count / (cores * 4) + 1)
        let starts = stride(from: startIndex, to: endIndex, by: part).map(\.self)
        return await withTaskGroup(of: (Int, [Result]).self) { group in
            for (number, start) in starts.enumerated() {
                let slice = self[start..<Swift.min(start + part, endIndex)]
                group.addTask { (number, slice.map(transform)) }
            }
            var parts = [[Result]](repeating: [], count: starts.count)
            for await (number, results) in group { parts[number] = results }
            return parts.flatMap(\.self)
        }
    }
}

import Bodega
import Dispatch
import Foundation
import RecordCoder

/// The result of decoding many records.
struct DecodedObjects<Object> {
    /// The objects, in the order of their records.
    let objects: [Object]
    /// The indices of the undecodable records, in order, and the errors.
    let failures: [(index: Int, error: any Error)]
}

extension Codec {

    /// The minimum number of records that a thread decodes.
    private static var minimumPart: Int { 256 }

    /// Decodes records. If there are many, and `Object` is not a class, all cores share the work.
    ///
    /// - Parameters:
    ///   - records: The records.
    ///   - inspect: Called with each object and the index of its record, on any thread.
    static func decode(
        all records: [Data],
        inspect: (Int, Object) -> Void = { _, _ in }
    ) -> DecodedObjects<Object> {
        // An array without capacity would write to the storage that all empty arrays share, which is a data race.
        if records.isEmpty { return DecodedObjects(objects: [], failures: []) }
        let failures = Locked<[(index: Int, error: any Error)]>([])
        // Each part initializes its own slice of the buffer, so objects are moved only if a record is undecodable.
        let objects = [Object](unsafeUninitializedCapacity: records.count) { buffer, initializedCount in
            nonisolated(unsafe) let (buffer, inspect) = (buffer, inspect)
            concurrently(records.count) { indices in
                var index = indices.lowerBound
                // In bounds and uninitialized: a part has one result per record, and the parts do not overlap.
                Codec().decode(records[indices]) { object in
                    inspect(index, object)
                    buffer.initializeElement(at: index, to: object)
                    index += 1
                } failure: { error in
                    failures.withLock { [index] in $0.append((index, error)) }
                    index += 1
                }
            }
            initializedCount = buffer.closeGaps(failures.withLock { $0.map(\.index).sorted() }, among: records.count)
        }
        return DecodedObjects(objects: objects, failures: failures.withLock { $0.sorted { $0.index < $1.index } })
    }

    /// Runs a closure for the parts of `0..<count`, concurrently if that is worthwhile.
    private static func concurrently(_ count: Int, _ body: (Range<Int>) -> Void) {
        // Decoding instances of a class may touch state that belongs to the calling thread.
        if count < minimumPart * 2 || Object.self is AnyObject.Type { return body(0..<count) }
        let cores = ProcessInfo.processInfo.activeProcessorCount
        if cores == 1 { return body(0..<count) }
        // Several parts per core, so that no core idles for long at the end.
        let size = max(minimumPart, count / (cores * 4) + 1)
        // Unsafe, but all parts have ended when this method returns.
        nonisolated(unsafe) let body = body
        DispatchQueue.concurrentPerform(iterations: (count + size - 1) / size) { part in
            body(part * size..<min((part + 1) * size, count))
        }
    }
}

extension UnsafeMutableBufferPointer {
    /// Moves the elements to the front of the buffer.
    ///
    /// - Parameters:
    ///   - gaps: The indices without an element, in order.
    ///   - count: The number of indices, with and without an element.
    /// - Returns: The number of elements.
    fileprivate func closeGaps(_ gaps: [Int], among count: Int) -> Int {
        guard let start = baseAddress else { return 0 }
        var end = gaps.first ?? count
        for (index, gap) in gaps.enumerated() {
            let next = index + 1 < gaps.count ? gaps[index + 1] : count
            // In bounds: the elements after a gap move to the end of those before it, which is at the gap or before it.
            (start + end).moveInitialize(from: start + gap + 1, count: next - gap - 1)
            end += next - gap - 1
        }
        return end
    }
}

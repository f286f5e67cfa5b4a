import Bodega
import Dispatch
import Foundation
import RecordCoder

/// What became of records that were decoded together.
struct DecodedObjects<Object> {
    /// The objects, in the order of their records.
    let objects: [Object]
    /// The places of the records that could not be decoded, in order, and why.
    let failures: [(place: Int, error: any Error)]
}

extension Codec {

    /// How many records are worth a thread.
    private static var smallestPart: Int { 256 }

    /// Decodes records; many of them on all cores, unless the objects are of a class.
    ///
    /// - Parameters:
    ///   - records: The records.
    ///   - inspect: Is called with each object and its place, on any thread.
    static func decode(
        all records: [Data],
        inspect: (Int, Object) -> Void = { _, _ in }
    ) -> DecodedObjects<Object> {
        let failures = Locked<[(place: Int, error: any Error)]>([])
        // Each part writes into its own places, so that no object need be moved, unless one is missing.
        let objects = [Object](unsafeUninitializedCapacity: records.count) { buffer, initializedCount in
            nonisolated(unsafe) let (buffer, inspect) = (buffer, inspect)
            concurrently(records.count) { places in
                var place = places.lowerBound
                // In bounds, and nothing has been there: a part has as many results as records, and no other has these.
                Codec().decode(records[places]) { object in
                    inspect(place, object)
                    buffer.initializeElement(at: place, to: object)
                    place += 1
                } failure: { error in
                    failures.withLock { [place] in $0.append((place, error)) }
                    place += 1
                }
            }
            initializedCount = buffer.closeGaps(failures.withLock { $0.map(\.place).sorted() }, among: records.count)
        }
        return DecodedObjects(objects: objects, failures: failures.withLock { $0.sorted { $0.place < $1.place } })
    }

    /// Does something for places from 0, in parts.
    private static func concurrently(_ count: Int, _ body: (Range<Int>) -> Void) {
        // Objects of a class may share more with the thread that asks for them than values do.
        if count < smallestPart * 2 || Object.self is AnyObject.Type { return body(0..<count) }
        let cores = ProcessInfo.processInfo.activeProcessorCount
        if cores == 1 { return body(0..<count) }
        // Several parts a core, so that none waits long for the others at the end.
        let size = max(smallestPart, count / (cores * 4) + 1)
        // All parts have ended when this returns.
        nonisolated(unsafe) let body = body
        DispatchQueue.concurrentPerform(iterations: (count + size - 1) / size) { part in
            body(part * size..<min((part + 1) * size, count))
        }
    }
}

extension UnsafeMutableBufferPointer {
    /// Moves elements together.
    ///
    /// - Parameters:
    ///   - gaps: The places without an element, in order.
    ///   - count: How many places there are, with and without one.
    /// - Returns: How many elements there are. They are at the first places.
    fileprivate func closeGaps(_ gaps: [Int], among count: Int) -> Int {
        guard let start = baseAddress else { return 0 }
        var end = gaps.first ?? count
        for (index, gap) in gaps.enumerated() {
            let next = index + 1 < gaps.count ? gaps[index + 1] : count
            // In bounds: what is behind a gap moves to where the elements so far end, which is at the gap or before it.
            (start + end).moveInitialize(from: start + gap + 1, count: next - gap - 1)
            end += next - gap - 1
        }
        return end
    }
}

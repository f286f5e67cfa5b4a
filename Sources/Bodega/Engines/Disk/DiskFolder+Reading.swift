import Dispatch
package import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension DiskFolder {

    /// The item under a key.
    package func data(of key: CacheKey) throws -> Data? {
        try readingOne { folder in try withFile(of: key, in: folder) { try $0.read(self) } }
    }

    /// The bytes of the item under a key.
    func stream(of key: CacheKey) throws -> StreamFile? {
        try readingOne { folder in try withFile(of: key, in: folder) { try $0.stream(self) } }
    }

    /// The items that exist, in the order of the keys.
    package func items(of keys: [CacheKey]) throws -> [(key: CacheKey, data: Data)] {
        try readingMany { folder in
            try concurrently(keys) { key in
                try self.withFile(of: key, in: folder) { (key, try $0.read(self)) }
            }
        }
    }

    /// Reads items with any fields but their places, in the order of their keys.
    func items(_ request: FetchRequest) throws -> [StorageItem] {
        let readsData = !request.fields.isDisjoint(with: [.data, .expiry])
        let readsDates = request.fields.contains(.dates)
        let read = { @Sendable (folder: Int32, key: CacheKey) throws -> StorageItem? in
            try self.withFile(of: key, in: folder) { file in
                StorageItem(
                    key: key, data: readsData ? try file.read(self) : Data(),
                    dates: readsDates ? file.recordOrTimes.dates : nil)
            }
        }
        if request.keys.count == 1 {
            return try readingOne { folder in try read(folder, request.keys[0]) }.map { [$0] } ?? []
        }
        return try readingMany { folder in try concurrently(request.keys) { try read(folder, $0) } }
    }

    /// All items in insertion order.
    package func allItems() throws -> [(key: CacheKey, data: Data)] {
        try inOrder { file in (file.key, try file.read(self)) }
    }

    /// All keys in insertion order.
    package func allKeys() throws -> [CacheKey] {
        try inOrder(\.key)
    }

    /// Those of the keys whose items exist, in their order.
    package func existing(among keys: [CacheKey]) throws -> [CacheKey] {
        try readingMany { folder in
            try concurrently(keys) { key in try self.withFile(of: key, in: folder) { _ in key } }
        }
    }

    /// The items whose files have no keys, in insertion order. They were not written through this type.
    package func strays() throws -> [(key: CacheKey, data: Data)] {
        try readingMany { folder in
            try inOrder(folder) { file in file.record?.key == nil ? (file.key, try file.read(self)) : nil }
        }
    }

    /// The keys of some files. Only these files are opened.
    func someKeys(_ count: Int) throws -> [CacheKey] {
        try readingMany { folder in
            try names(in: folder).prefix(count).compactMap { try DiskFile.open($0, in: folder, self)?.key }
        }
    }

    /// The location of an item's file, `nil` if there is none.
    package func file(of key: CacheKey) throws -> URL? {
        try readingOne { folder in
            try withFile(of: key, in: folder) { URL(fileURLWithPath: self.path + "/" + $0.name) }
        }
    }

    /// The number of items.
    package func count() throws -> Int {
        try readingMany { folder in try names(in: folder).count }
    }

    /// When an item was first and last written.
    package func dates(of key: CacheKey) throws -> StorageDates? {
        try readingOne { folder in try withFile(of: key, in: folder) { $0.recordOrTimes.dates } }
    }

    /// When an item's file was last read or written.
    package func lastAccessed(key: CacheKey) throws -> Date? {
        try readingOne { folder in try withFile(of: key, in: folder) { $0.lastAccessed } }
    }

    /// Opens the file of a key, under any of the names in ``DiskName``.
    ///
    /// - Returns: `nil` if there is none.
    func withFile<Result>(
        of key: CacheKey,
        in folder: Int32,
        _ body: (DiskFile) throws -> Result
    ) throws -> Result? {
        var keyless: DiskFile?
        for place in DiskName(key).places {
            guard let file = try DiskFile.open(place, in: folder, self) else { continue }
            if file.record?.key == key { return try body(file) }
            // A file without a key belongs to the key, unless another file has that key.
            if file.record?.key == nil, keyless == nil { keyless = file }
        }
        return try keyless.map(body)
    }

    /// The names of the files that are items.
    func names(in folder: Int32) throws -> [String] {
        try FileSystem.files(in: folder, path).filter(DiskName.canBeItem)
    }

    /// Opens every item's file and returns the results of a closure, in insertion order.
    private func inOrder<Element>(_ element: (DiskFile) throws -> Element) throws -> [Element] {
        try readingMany { folder in try inOrder(folder, element) }
    }

    /// Does the same in an open folder, while no batch is carried out.
    func inOrder<Element>(_ folder: Int32, _ element: (DiskFile) throws -> Element?) throws -> [Element] {
        let names = try names(in: folder)
        let reading = records.read(at: clock(), count: names.count)
        let found = try concurrently(names) { name -> (order: Int64, name: String, element: Element)? in
            // An item that was removed in the meantime has no file any more.
            guard let file = try DiskFile.open(name, in: folder, self, reading), let element = try element(file) else {
                return nil
            }
            return (file.recordOrTimes.order, name, element)
        }
        records.end(reading, count: names.count)
        // Sorts indices, because moving the elements at each step would take longer than the comparisons.
        var places = found.enumerated().map { (order: $1.order, index: $0) }
        places.sort { left, right in
            left.order == right.order ? found[left.index].name < found[right.index].name : left.order < right.order
        }
        return places.map { found[$0.index].element }
    }
}

/// Transforms elements on all cores and keeps their order; `nil` results are omitted.
///
/// - Throws: The error of the first element that failed; ``StorageError/Code/suspended`` if the storage is suspended
///   before the end.
private func concurrently<Input, Output>(
    _ inputs: [Input],
    _ transform: (Input) throws -> Output?
) throws -> [Output] {
    let chunkSize = 64
    if inputs.count <= chunkSize { return try inputs.compactMap(transform) }
    let chunks = (inputs.count + chunkSize - 1) / chunkSize
    var results = [Result<[Output], any Error>?](repeating: nil, count: chunks)
    results.withUnsafeMutableBufferPointer { buffer in
        // Each iteration writes to its own element, `chunk` < `chunks`, and all are done when the call returns.
        nonisolated(unsafe) let buffer = buffer
        nonisolated(unsafe) let transform = transform
        nonisolated(unsafe) let inputs = inputs
        DispatchQueue.concurrentPerform(iterations: chunks) { chunk in
            let range = chunk * chunkSize..<min((chunk + 1) * chunkSize, inputs.count)
            buffer[chunk] = Result {
                try LockHolders.shared.check()
                return try inputs[range].compactMap(transform)
            }
        }
    }
    var outputs: [Output] = []
    outputs.reserveCapacity(inputs.count)
    for result in results { outputs += try result?.get() ?? [] }
    return outputs
}

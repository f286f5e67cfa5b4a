package import Foundation

/// The items of a folder during a write, for ``DiskFolder/update(at:_:)``.
package struct DiskContents {
    let owner: DiskFolder
    let folder: Int32

    /// The item under a key.
    package func data(of key: CacheKey) throws -> Data? {
        try owner.withFile(of: key, in: folder) { try $0.read(owner) }
    }

    /// All items in insertion order.
    package func allItems() throws -> [(key: CacheKey, data: Data)] {
        try owner.inOrder(folder) { file in (file.key, try file.read(owner)) }
    }
}

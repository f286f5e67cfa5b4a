// Declarations that the guide mentions but does not show.

import Bodega
import Foundation

let engine: SQLiteStorageEngine = { fatalError() }()
let (data, key) = (Data(), CacheKey("picture"))
@MainActor var savedCursor: StorageCursor?
@MainActor func replaceAll(with items: [(key: CacheKey, data: Data)]) {}
@MainActor func refresh(_ key: CacheKey) async throws {}

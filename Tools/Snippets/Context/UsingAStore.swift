// Declarations that the guide mentions but does not show.

import Bodega

struct Note: Codable, Sendable { var id: String }
let engine = MemoryStorageEngine()

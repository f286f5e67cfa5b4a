// What the guide speaks of and does not show.

import Bodega

struct Note: Codable, Sendable { var id: String }
let engine = MemoryStorageEngine()

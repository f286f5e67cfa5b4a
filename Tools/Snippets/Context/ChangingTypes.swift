// Declarations that the guide mentions but does not show.

import Bodega

struct NoteV1: Codable, Sendable { var id, text: String }
struct NoteV2: Codable, Sendable {
    var id, title: String
    var tags: [String]
}
struct Note: Codable, Sendable {
    var id, title: String
    var tags: Set<String>
}
let engine = MemoryStorageEngine()

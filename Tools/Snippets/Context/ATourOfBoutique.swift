// Declarations that the page mentions but does not show.

import Boutique

let engine: SQLiteStorageEngine = { fatalError() }()
@MainActor let store: Store<Note> = { fatalError() }()

enum Theme: String, Codable { case light, dark }

struct TaskV1: Codable { var id, text: String }
struct TaskV2: Codable { var id, title: String }
struct Task3: Codable {
    enum Priority: String, Codable { case normal, high }
    var id, title: String
    var priority: Priority
}

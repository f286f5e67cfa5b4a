// What the guide speaks of and does not show.

struct Note: Codable, Sendable { var id: String }

// Declarations that the guide mentions but does not show.

struct Note: Codable, Sendable { var id: String }

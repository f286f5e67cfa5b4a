// Declarations that the page mentions but does not show.

struct Note: Codable, Sendable, Identifiable { var id, text: String }
